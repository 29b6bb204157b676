"""Which guards a change reaches: functions that let somebody in, and use what changed, in any module.

A guard whose own text stays as it was answers otherwise when its helper, constant, base class or setting
changes. Names are followed from the changed lines through what uses them, a few steps far; what is reached
in truth is told by the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final

from gate.languages.naming import snake
from gate.model.change import ChangedFile, Side, Tree
from gate.model.guard_calls import GuardTarget
from gate.model.run import Probe
from gate.plan.conditions import ZONE
from gate.plan.dependents import acted_on
from gate.plan.guard_names import is_named_guard
from gate.plan.guard_sources import JAVASCRIPT, KINDS, SourceKind
from gate.plan.module_layout import module_of
from gate.plan.probes import DriverItem, probe_of
from gate.plan.project_layout import example_of, manage_of
from gate.plan.python_source import BIGGEST, Definition, Facts

MOST: Final = 16
"""Guards of one change."""
_OF_A_FILE: Final = 8
_UNNAMED: Final = 6
"""Functions that only look at who asks."""
_FILES: Final = 40
"""Modules that are read for guards."""
_LOOKED: Final = 3_000
_SIZE: Final = 128 << 10
_BYTES: Final = 1 << 20
"""Of all of them together."""
_STEPS: Final = 3
_SHORT: Final = 2
_SEED: Final = 1
_START: Final = 6.0
_EACH: Final = 2.5
_COMMON: Final = frozenset({
    "get", "set", "name", "id", "key", "data", "value", "result", "run", "main", "self", "index", "count",
    "update", "append", "add", "items", "join", "list", "dict", "open", "read", "write", "test", "path",
    "type", "format", "__init__", "save", "load", "close", "log", "logger", "app", "settings", "config",
    "db", "create", "delete", "handle", "call", "process", "parse", "request", "response", "url", "user",
    "model", "objects", "filter",
})  # fmt: skip
"""Names that say too little to follow them to other files."""
_LOADS: Final = 3.0
"""Seconds to begin a program for one module of JavaScript or TypeScript, compiled there."""
Worlds = Mapping[GuardTarget, Sequence[Mapping[str, Any]]]


def find_guards(files: Sequence[ChangedFile], base: Tree, head: Tree) -> tuple[GuardTarget, ...]:
    """Guards of head that use what changed, or changed themselves: those first whose own text did not."""
    changed = [f for f in files if f.new_mode in ("100644", "100755")]
    if any(_kind_of(f.path) or f.language not in ("python", "javascript", "typescript") for f in changed):
        changed += acted_on(files, head)
    found = [one for kind in KINDS for one in _ranked(kind, changed, base, head)]
    found.sort()
    chosen: list[GuardTarget] = []
    for _, one in found:
        if any((other.path, other.name) == (one.path, one.name) for other in chosen):
            continue
        of_a_file = sum(other.path == one.path for other in chosen)
        unnamed = sum(not is_named_guard(other.name) for other in chosen)
        if of_a_file < _OF_A_FILE and (unnamed < _UNNAMED or is_named_guard(one.name)):
            chosen.append(one)
    return tuple(chosen[:MOST])


def _ranked(
    kind: SourceKind, files: Sequence[ChangedFile], base: Tree, head: Tree
) -> Iterator[tuple[tuple[bool, bool, int, GuardTarget], GuardTarget]]:
    """Guards of one kind of source, each with its rank."""
    changed = [f for f in files if kind.is_module(f.path)]
    if not changed:
        return
    own = {
        path: data for path, data in head.read_many(tuple(f.path for f in changed)) if len(data) <= BIGGEST
    }
    facts = {path: one for path, one in kind.read(own).items() if one is not None}
    before = {f.old_path or f.path: f.path for f in changed if f.old_blob}
    old = {path: data for path, data in base.read_many(tuple(before)) if len(data) <= BIGGEST}
    was = {before[path]: one for path, one in kind.read(old).items() if one is not None}
    names = {name for f in changed for name in changed_names(f, facts.get(f.path), was.get(f.path))}
    if not names:
        return
    told = _followed(names, facts, near=True)  # a function of the same file that uses it is used elsewhere
    around = kind.linked(frozenset(facts), {**_users(kind, head, told, frozenset(facts)), **facts})
    here = {f.path: f for f in changed}
    for path, one_facts in around.items():
        for one in _reached(kind, path, one_facts, _followed(names, around, path in here), here.get(path)):
            yield _rank(one, changed), one


def _kind_of(path: str) -> SourceKind | None:
    return next((kind for kind in KINDS if kind.is_module(path)), None)


def changed_names(file: ChangedFile, facts: Facts | None, before: Facts | None) -> set[str]:
    """Names by which others use what changed, or what is gone: functions, classes, variables."""
    found: set[str] = set()
    for one in facts.definitions if facts else ():
        if file.touches(one.first, one.last):
            found |= _words(one.name)
    found |= {name for name, first, last in (facts.names if facts else ()) if file.touches(first, last)}
    for one in before.definitions if before else ():
        if file.touched(one.first, one.last):
            found |= _words(one.name)
    found |= {name for name, first, last in (before.names if before else ()) if file.touched(first, last)}
    return {name for name in found if len(name) > _SHORT}


def _words(name: str) -> set[str]:
    """A method stands for its class where nobody names it (``__eq__``), and a class for values named so."""
    parts = name.split(".")
    found = {part for part in parts if not part.startswith("__")}
    return found | ({snake(parts[-2])} if parts[-1].startswith("__") and len(parts) > 1 else set())


def _users(kind: SourceKind, head: Tree, names: set[str], known: frozenset[str]) -> dict[str, Facts]:
    """Modules that name what changed, the nearest first."""
    entries = [e for e in head.entries() if e.size <= _SIZE and e.mode.startswith("100")]
    paths = [e.path for e in entries if kind.is_module(e.path) and e.path not in known]
    telling = sorted(name for name in names if name not in _COMMON)
    if not telling or not paths:
        return {}
    pattern = re.compile(b"|".join(kind.written_as(one) for one in telling))
    paths.sort(key=lambda path: (-max((_shared(path, one) for one in known), default=0), path))
    found = {}
    size = 0
    for path, data in head.read_many(tuple(paths[:_LOOKED])):
        if pattern.search(data):
            found[path] = data
            size += len(data)
            if len(found) == _FILES or size > _BYTES:
                break
    return {path: one for path, one in kind.read(found).items() if one is not None}


def _shared(one: str, other: str) -> int:
    count = 0
    for mine, theirs in zip(PurePosixPath(one).parts, PurePosixPath(other).parts, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _followed(names: set[str], around: Mapping[str, Facts], near: bool) -> set[str]:
    """The names, and those of functions that use them."""
    found = set(names)
    for _ in range(_STEPS):
        telling = found - _COMMON
        more = {
            word
            for facts in around.values()
            for one in facts.definitions
            if not _is_class(one, facts) and one.uses & telling
            if len(word := one.name.rpartition(".")[2]) > _SHORT and not word.startswith("__")
        }
        if more <= found:
            break
        found |= more
    return found if near else found - _COMMON


def _reached(
    kind: SourceKind, path: str, facts: Facts, names: set[str], file: ChangedFile | None
) -> Iterator[GuardTarget]:
    made = {
        one.name.rpartition(".")[0]
        for one in facts.definitions
        if one.name.endswith(".__init__") and one.uses & names
    }
    for one in facts.definitions:
        touched = file is not None and file.touches(one.first, one.last)
        used = one.uses & names or one.name.rpartition(".")[0] in made
        if _is_class(one, facts) or not (touched or used) or not _is_reachable(one, facts):
            continue
        if kind.is_guard(one.name, one.uses):
            yield GuardTarget(path=path, name=one.name, line=one.first, changed=touched)


def _is_reachable(one: Definition, facts: Facts) -> bool:
    """Can another module call it?"""
    first, _, last = one.name.partition(".")
    return facts.exported is None or (first in facts.exported and not last.startswith(("#", "__")))


def _is_class(one: Definition, facts: Facts) -> bool:
    inside = f"{one.name}."
    last = one.name.rpartition(".")[2]
    return last[:1].isupper() or any(other.name.startswith(inside) for other in facts.definitions)


def _rank(one: GuardTarget, changed: Sequence[ChangedFile]) -> tuple[bool, bool, int, GuardTarget]:
    """Those named for it first, then those whose own text did not change, then the nearest."""
    near = max(_shared(one.path, file.path) for file in changed)
    return (not is_named_guard(one.name), one.changed, -near, one)


def guard_probe(
    targets: Sequence[GuardTarget],
    file: ChangedFile,
    paths: frozenset[str],
    side: Side,
    started: float,
    worlds: Worlds | None = None,
) -> Probe:
    """One run that calls these guards of one side. ``paths``: all files of its tree; ``started``: the time of
    day, the same in all runs; ``worlds``: the questions to ask, else they are found.
    """
    scripts = [target for target in targets if target.path.endswith(JAVASCRIPT)]
    loads = _LOADS * len({target.path for target in scripts})
    items = []
    if scripts:  # one program for all: what their modules share is loaded once
        told = [{"path": one.path, **_asked(one, worlds)} for one in scripts]
        seconds = _EACH * len(scripts) + loads
        items.append(
            {"do": "guards", "script": True, "path": scripts[0].path, "seconds": seconds, "targets": told}
        )
    for path in dict.fromkeys(target.path for target in targets if target not in scripts):
        module = module_of(path, paths)
        mine = [target for target in targets if target.path == path]
        item: dict[str, Any] = {
            "do": "guards",
            "path": path,
            "roots": list(module.roots),
            "seconds": _EACH * len(mine),
            "targets": [_asked(one, worlds) for one in mine],
        }
        if module.name is not None:
            item["module"] = module.name
        if (manage := manage_of(path, paths)) is not None:
            item["django"] = manage
        if (example := example_of(path, paths)) is not None:
            item["env"] = example
        items.append(item)
    which = "found" if worlds is None else "asked"
    probe = probe_of(
        [
            DriverItem(
                phase="call",
                target=f"guards {which} of {item['path']}",
                file=file,
                item=item,
                sides=(side,),
            )
            for item in items
        ],
        _START + _EACH * len(targets) + loads,
        {"grace": 0.2, "pin": _SEED, "pin_time": started},
    )
    # Local time taken for UTC, or the other way round, is the same moment where the machine's zone is UTC.
    return replace(probe, env={**probe.env, "TZ": ZONE})


def _asked(target: GuardTarget, worlds: Worlds | None) -> dict[str, Any]:
    return {"name": target.name} | ({"worlds": list(worlds[target])} if worlds is not None else {})
