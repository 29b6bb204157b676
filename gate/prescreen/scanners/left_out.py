"""Findings about code of the product that only a build leaves out, so that no test misses it."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Iterator
from typing import Final

from gate.builds.effects import Module
from gate.builds.packages import is_module, left_out, side_effects
from gate.languages.limited_child import Reader
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.read_files import Unread, first_files, read_files, says_newly
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

LEFT_OUT: Final = rule.meta(
    "build.left-out",
    "A build leaves code out that acts by itself",
    severity="medium",
    confidence="medium",
    topic="weak-check",
    cwe=(561, 693),
    why="`sideEffects` in package.json tells bundlers which modules do something when they are imported. "
    "One that is imported for its effect alone, and is not named, is in no bundle: tests see what it sets "
    "up, users do not. A call behind `/* @__PURE__ */` whose answer nobody takes goes the same way.",
    fix='Name the module in `sideEffects` (`["./src/setup.js"]`), or take something from it by name.',
)
_READER: Final = Reader("gate.builds.effects:read", Module, parses=True, pure=True)
_ALONE: Final = regex(rb"(?m)^\s*import\s*['\"]\.")
_PURE: Final = regex(rb"[@#]__PURE__")
_LARGEST: Final = 1 << 18
_MOST_FILES: Final = 800
_MOST: Final = 4


def left_out_findings(request: PrescreenRequest, unread: Unread) -> Iterator[Finding]:
    """Of packages whose manifest or whose modules changed. What could not be read is added to ``unread``."""
    until = time.monotonic() + request.deadline
    files = sources(request).files
    yield from _pure(files, until, unread)
    told: set[str] = set()
    for source in files:
        path = source.path
        manifest = posixpath.basename(path) == "package.json" and side_effects(source.head) is not None
        if manifest or (is_module(path) and says_newly(source, _ALONE)):
            folder = posixpath.dirname(path) if manifest else _package(path, request.head)
            if folder is not None and folder not in told and len(told) < _MOST:
                told.add(folder)
                yield from _of_package(request, f"{folder}/" if folder else "", until)


def _pure(files: tuple[Source, ...], until: float, unread: Unread) -> Iterator[Finding]:
    every = [one for one in files if is_module(one.path) and says_newly(one, _PURE)]
    some, left = first_files(every, 100, _LARGEST)
    unread += left
    head = read_files(_READER, [(one.path, one.head) for one in some], until, unread)
    base = read_files(_READER, [(one.path, one.base) for one in some if one.base], until)
    for source in some:
        had = {text for text, _ in base[source.path].pure} if source.path in base else set()
        for text, line in head[source.path].pure if source.path in head else ():
            if text not in had:
                message = "A call that is there for its effect is said to have none: builds leave it out."
                yield _finding(source.path, line, message, text, {"call": text})


def _package(path: str, tree: Tree) -> str | None:
    """The folder of the nearest package that says which modules have effects."""
    folders = [posixpath.dirname(path)]
    while folders[-1]:
        folders.append(posixpath.dirname(folders[-1]))
    wanted = tuple(posixpath.join(one, "package.json") for one in folders)
    found = dict(tree.read_many(tuple(e.path for e in tree.entries() if e.path in wanted)))
    nearest = next((one for one in wanted if one in found), "")
    return posixpath.dirname(nearest) if nearest and side_effects(found[nearest]) is not None else None


def _of_package(request: PrescreenRequest, folder: str, until: float) -> Iterator[Finding]:
    new = _dropped(request.head, folder, until)
    if not new:
        return
    old = {(path, target) for path, _, target in _dropped(request.base, folder, until)}
    fresh = [one for one in new if (one[0], one[2]) not in old]
    for path, line, target in fresh[:_MOST]:
        message = f"Builds leave {target} out, which is imported for its effect alone."
        evidence = {"module": target, "imported by": f"{path}:{line}"}
        yield _finding(path, line, message, f"{path} {target}", evidence)


def _dropped(tree: Tree, folder: str, until: float) -> list[tuple[str, int, str]]:
    manifest = f"{folder}package.json"
    paths = {e.path: e.size for e in tree.entries()}
    keeps = side_effects(dict(tree.read_many((manifest,))).get(manifest)) if manifest in paths else None
    if keeps is None:
        return []
    wanted = [p for p, size in paths.items() if p.startswith(folder) and is_module(p) and size <= _LARGEST]
    files = [*tree.read_many(tuple(wanted[: _MOST_FILES * 4]))]
    if not any(_ALONE.search(data) for _, data in files):
        return []
    said = [(path, data) for path, data in files if b"import" in data or b"export" in data]
    return [*left_out(folder, keeps, read_files(_READER, said[:_MOST_FILES], until), paths)]


def _finding(path: str, line: int, message: str, shape: str, evidence: dict[str, str]) -> Finding:
    return finding(LEFT_OUT, message, Location(path=path, line=line), shape=shape[:300], evidence=evidence)
