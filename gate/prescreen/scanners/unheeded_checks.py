"""Findings about calls of shell functions that move to where ``set -e`` does nothing, and about recipes of
make that go on after a check that fails.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

import msgspec

from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.meanings.recipes import goes_on, is_makefile
from gate.prescreen.meanings.shell import Called, Function, Script, unheeded, verified
from gate.prescreen.read_files import Unread, first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule

UNHEEDED: Final = rule.meta(
    "meaning.check-unheeded",
    "A check of a script still runs, and the script goes on when it fails",
    severity="medium",
    confidence="medium",
    topic="weak-check",
    cwe=(252, 354, 494),
    attack=("T1195.002",),
    why="`set -e` does nothing in a function that stands in a condition (`if f`, `until f`, `f || x`), in "
    "`$(f)`, or in front of a pipe: a sum or a signature that does not fit no longer ends it. `local x=$(f)` "
    "and its like take the status of `f` away, too. A leading `-` in a recipe of make, `.IGNORE`, or "
    "`.ONESHELL` without `-e` does the same, and so does a pipe where `.SHELLFLAGS` (just: `set shell`, "
    "Task: `set`) lost `pipefail`.",
    fix="Say in the function what happens (`... || return 1`), or call it by itself.",
)
_READER: Final = Reader("gate.prescreen.meanings.shell:read", Script, parses=True, pure=True)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 200
_MOST: Final = 5


def unheeded_findings(request: PrescreenRequest, unread: Unread) -> Iterator[Finding]:
    """Of every changed script and makefile. What could not be read is added to ``unread``."""
    until = time.monotonic() + request.deadline
    files = [one for one in sources(request).files if one.base is not None and not is_example(one.path)]
    made, left = first_files([one for one in files if is_makefile(one.path)], _MOST_FILES, _LARGEST)
    for source in made:
        yield from _recipes(source)
    scripts, more = first_files([one for one in files if one.language == "shell"], _MOST_FILES, _LARGEST)
    unread += [*left, *more]
    if not scripts:
        return
    head = read_files(_READER, [(one.path, one.head) for one in scripts], until, unread)
    base = read_files(_READER, [(one.path, one.base or b"") for one in scripts], until)
    moved = [
        (source, one)
        for source in scripts
        if source.path in head and source.path in base
        for one in (
            *_moved(base[source.path], head[source.path]),
            *_declared(base[source.path], head[source.path]),
        )
    ]
    if not moved:
        return
    known = _functions(request.head, {one.name for _, one in moved}, until)
    known |= {one.name: one for script in head.values() for one in script.functions}
    told: set[tuple[str, str]] = set()
    for source, one in moved[:_MOST_FILES]:
        check = unheeded(one.name, known)
        if not check and one.declared:
            check = one.check or verified(one.name, known)
        if check and (source.path, one.name) not in told:
            told.add((source.path, one.name))
            yield _finding(source, one, check)


def _moved(old: Script, new: Script) -> Iterator[Called]:
    """Calls of head where ``set -e`` does nothing, of names that base called where it acts."""
    if not old.ends_on_failure:
        return
    if not new.ends_on_failure:
        # ``set -e`` is gone: a check of its own is told by the reader of protections.
        had = {one.name for one in old.calls if not one.idle}
        yield from [msgspec.structs.replace(one, idle="no set -e") for one in new.calls if one.name in had][
            :_MOST
        ]
        return
    acted = Counter(one.name for one in old.calls if not one.idle)
    acts = Counter(one.name for one in new.calls if not one.idle)
    idle = Counter(one.name for one in old.calls if one.idle)
    now = Counter(one.name for one in new.calls if one.idle)
    told: set[str] = set()
    for one in new.calls:
        fresh = one.idle and now[one.name] > idle[one.name] and acted[one.name] > acts[one.name]
        if fresh and one.name not in told and len(told) < _MOST:
            told.add(one.name)
            yield one


def _declared(old: Script, new: Script) -> Iterator[Called]:
    """Calls whose status a declaration takes, of names whose status ended base."""
    if not old.ends_on_failure:
        return
    before, now = (Counter(one.name for one in script.calls if one.declared) for script in (old, new))
    plain = Counter(one.name for one in old.calls if not one.declared)
    left = Counter(one.name for one in new.calls if not one.declared)
    for one in new.calls:
        if one.declared and now[one.name] > before[one.name] and plain[one.name] > left[one.name]:
            yield msgspec.structs.replace(one, idle=f"{one.declared} $( )")


def _functions(tree: Tree, names: set[str], until: float) -> dict[str, Function]:
    """Functions of the tree's scripts, where one of these names is defined in a script."""
    scripts = [
        e.path
        for e in tree.entries()
        if PurePosixPath(e.path).suffix in (".sh", ".bash", ".bats", ".ksh", "") and e.size <= _LARGEST
    ]
    files = [
        (path, data)
        for path, data in tree.read_many(tuple(scripts[:2_000]))
        if any(f"{name}()".encode() in data or f"function {name}".encode() in data for name in names)
    ]
    read: Sequence[Script] = [*read_files(_READER, files[:_MOST_FILES], until).values()]
    return {one.name: one for script in read for one in script.functions}


def _recipes(source: Source) -> Iterator[Finding]:
    old = goes_on((source.base or b"").decode("utf-8", "replace"), source.path)
    heeded = {one.command for one in old if not one.goes_on}
    for one in goes_on(source.head.decode("utf-8", "replace"), source.path):
        if one.goes_on and one.command in heeded:
            yield finding(
                UNHEEDED,
                "A recipe goes on when its check fails.",
                Location(path=source.path, line=one.line),
                shape=f"recipe {one.command}"[:300],
                evidence={"check": one.command[:120], "by": one.goes_on},
            )


def _finding(source: Source, one: Called, check: str) -> Finding:
    return finding(
        UNHEEDED,
        "A function with a check is called where a failure in it no longer ends it.",
        Location(path=source.path, line=one.line),
        shape=f"{one.name} {one.idle}",
        evidence={"function": one.name, "stands in": one.idle, "check": check},
        severity=Severity.LOW if is_test_code(source.path) or check.startswith("[") else None,
    )
