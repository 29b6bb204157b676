"""Which JavaScript files of a tree import which: by the words of import lines, never by running.

A hint, as the words are looked for in the text and not parsed: it chooses tests, and decides nothing.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator
from typing import Final

from gate.model.change import Tree
from gate.regex import regex

ENDS: Final = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")
_COMPILED: Final = {
    ".js": (".ts", ".tsx", ".jsx"),
    ".mjs": (".mts", ".ts"),
    ".cjs": (".cts", ".ts"),
    ".jsx": (".tsx",),
}
_READ: Final = 4_000
_BIGGEST: Final = 512 << 10
_BUILT: Final = frozenset(("dist", "build", "lib", "out", "es", "esm", "cjs"))
_ASKED: Final = regex(
    rb"""(?:\bfrom|\bimport|\brequire\s{0,4}\(|\bimport\s{0,4}\(|\bmock\()\s{0,8}["']([^"'\r\n]{1,200})["']"""
)


class Imports:
    """Import lines of one tree; read when they are first needed."""

    def __init__(self, tree: Tree) -> None:
        self.sources = {
            e.path: e.size
            for e in tree.entries()
            if e.mode.startswith("100")
            and e.path.endswith(ENDS)
            and not e.path.endswith((".d.ts", ".min.js"))
            and "node_modules/" not in e.path
        }
        self._folders = _named_folders(tree)
        self._importers: dict[str, set[str]] = {}
        paths = tuple(path for path, size in self.sources.items() if size <= _BIGGEST)[:_READ]
        for path, text in tree.read_many(paths):
            for found in _ASKED.findall(text):
                target = self._file(path, found.decode("utf-8", "replace"))
                if target is not None:
                    self._importers.setdefault(target, set()).add(path)

    def importers(self, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Files that import these, directly or not, with how far away; the nearest first."""
        seen = set(paths)
        level = sorted(seen)
        distance = 0
        while level:
            distance += 1
            above = {one for path in level for one in self._importers.get(path, ())} - seen
            seen |= above
            level = sorted(above)
            yield from ((path, distance) for path in level)

    def _file(self, path: str, said: str) -> str | None:
        plain = said.partition("?")[0]
        if plain.startswith("."):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), plain))
            return self._known(target) or self._unbuilt(target)
        for name, folder in self._folders:
            if plain == name or plain.startswith(name + "/"):
                inner = plain[len(name) + 1 :]
                for middle in ("", "src", "lib", "source"):
                    found = self._known(posixpath.normpath(posixpath.join(folder, middle, inner)))
                    if found is not None:
                        return found
        return None

    def _known(self, target: str) -> str | None:
        if target in self.sources:
            return target
        bare, end = posixpath.splitext(target)
        candidates = [bare + other for other in _COMPILED.get(end, ())]
        candidates += [target + other for other in ENDS]
        candidates += [posixpath.join(target, f"index{other}") for other in ENDS]
        return next((path for path in candidates if path in self.sources), None)

    def _unbuilt(self, target: str) -> str | None:
        """The source of what a build makes (``build/lib/a.js`` of ``lib/a.ts``)."""
        parts = target.split("/")
        for at, part in enumerate(parts[:-1]):
            if part in _BUILT:
                for middle in ([], ["src"], ["lib"]):
                    found = self._known("/".join((*parts[:at], *middle, *parts[at + 1 :])))
                    if found is not None:
                        return found
        return None


def _named_folders(tree: Tree) -> list[tuple[str, str]]:
    """Names of the tree's own packages and their folders, longer names first."""
    manifests = tuple(
        e.path
        for e in tree.entries()
        if posixpath.basename(e.path) == "package.json"
        and "node_modules/" not in e.path
        and e.size <= _BIGGEST
    )
    found: dict[str, str] = {}
    for path, text in tree.read_many(manifests[:500]):
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict) and isinstance(said.get("name"), str) and said["name"]:
            found.setdefault(said["name"], posixpath.dirname(path))
    return sorted(found.items(), key=lambda pair: -len(pair[0]))
