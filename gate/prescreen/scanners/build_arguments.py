"""Findings about images that a changed file puts into a Dockerfile by a build argument."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.read_files import read_files
from gate.prescreen.scanners.supply_rules import SOURCE
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.regex import regex
from gate.supply.inputs.build_arguments import Asked, arguments_of, given, owner_of
from gate.supply.inputs.places import is_usual

_READER: Final = Reader("gate.supply.inputs.build_arguments:read", Asked, parses=True, pure=True)
_DOCKERFILE: Final = regex(r"(?i)(?:^|/)(?:(?:docker|container)file[^/]*|[^/]+\.(?:docker|container)file)$")
_PROSE: Final = (".md", ".rst", ".adoc", ".lock", ".svg", ".html")
_LARGEST: Final = 1 << 19
_MOST: Final = 100
_MOST_FINDINGS: Final = 5


def build_argument_findings(
    request: PrescreenRequest, known: Callable[[], frozenset[str]]
) -> Iterator[Finding]:
    """Values of head for arguments that a FROM is made of, where their image is another owner's than before.

    ``known``: places that base uses anywhere.
    """
    changed = [one for one in sources(request).files if _is_read(one)]
    words = {word for one in changed for word in re.findall(rb"\b[A-Z][A-Z0-9_]{2,40}\b", _fresh(one))}
    if not words:
        return
    until = time.monotonic() + request.deadline
    head = _dockerfiles(request.head, until)
    asked = [(one, template) for one in head for template in one.templates]
    names = {name for _, template in asked for name in arguments_of(template) if name.encode() in words}
    if not names:
        return
    base = _dockerfiles(request.base, until)
    had = {owner for one in base for owner in one.owners}
    had |= {
        owner_of(template, one.defaults, {name: value})[0]
        for source in changed
        for name, value, _ in _values(names, (source.base or b"").decode("utf-8", "replace"), "")
        for one, template in asked
    }
    count = 0
    told: set[tuple[str, str]] = set()
    for source in changed:
        text, before = ((side or b"").decode("utf-8", "replace") for side in (source.head, source.base))
        for name, value, line in _values(names, text, before):
            for one, template in asked:
                if name not in arguments_of(template) or (source.path, name) in told:
                    continue
                owner, whole = owner_of(template, one.defaults, {name: value})
                by_default = owner_of(template, one.defaults, {})[0]
                if (
                    not owner
                    or owner in had
                    or owner == by_default
                    or is_usual(owner)
                    or count >= _MOST_FINDINGS
                ):
                    continue
                if owner in known():
                    continue
                told.add((source.path, name))
                count += 1
                yield _finding(source, line, name, whole, by_default)


def _fresh(source: Source) -> bytes:
    had = set((source.base or b"").split(b"\n"))
    return b"\n".join(line for line in source.head.split(b"\n") if line not in had)


def _values(names: set[str], text: str, before: str) -> Iterator[tuple[str, str, int]]:
    had = set(before.split("\n"))
    for number, line in enumerate(text.split("\n"), 1):
        if line in had or len(line) > 2_000 or line.lstrip().startswith("#"):
            continue
        for name in sorted(names):
            if name in line and (value := given(name, line)):
                yield name, value, number


def _is_read(source: Source) -> bool:
    path = source.path
    if len(source.head) > _LARGEST or b"\0" in source.head[:4096] or path.lower().endswith(_PROSE):
        return False
    return not (_DOCKERFILE.search(path) or is_test_code(path) or is_example(path))


def _dockerfiles(tree: Tree, until: float) -> list[Asked]:
    paths = [e.path for e in tree.entries() if _DOCKERFILE.search(e.path) and e.size <= _LARGEST]
    paths.sort(key=lambda path: len(PurePosixPath(path).parts))
    read = read_files(_READER, [*tree.read_many(tuple(paths[:_MOST]))], until)
    return [*read.values()]


def _finding(source: Source, line: int, name: str, whole: str, was: str) -> Finding:
    before = was.removeprefix("owner:") or "no default"
    told = f"`{name}` makes the image that is built upon {whole}; the Dockerfile's own is of {before}"
    return finding(
        SOURCE,
        "What is built upon comes from another owner than before.",
        Location(path=source.path, line=line),
        shape=told,
        evidence={"told": told, "name": name},
        severity=Severity.MEDIUM,
    )
