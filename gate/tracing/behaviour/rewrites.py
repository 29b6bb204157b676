"""Files that were there before and get other content: what ransomware does, in place or by a rename.

No call says whether a file was there when it was opened with O_CREAT. It was when the host had sent it in
(the tree, planted files), and, as far as this tells, when the run had read it before it wrote it (who wraps
a file reads it first), or opened it in a way that makes sense for a file with content only.
"""

from __future__ import annotations

import codecs
import posixpath
from collections.abc import Collection, Mapping
from typing import Final

from gate.model.behaviour import BehaviourKind as Kind
from gate.tracing.behaviour.accumulator import Cells
from gate.tracing.behaviour.paths import PathClass, classify_path
from gate.tracing.data_files import data_files
from gate.tracing.events import Open

MANY: Final = {"tree": 20, "home": 5, "system": 5}
"""Files of one place, not made by the run itself, from which on deleting, emptying or rewriting is "many"."""
_LEAST: Final = 5
_SHARE: Final = 0.5
"""In a small tree it is "many", too, when so many files with data are lost, and that share of all it has."""
_KEPT: Final = 20_000
_WORDS: Final = 0.04
"""The share of white space from which on text is words and lines, not random bytes in an alphabet of letters:
base64 in lines of 76 has 0.013, minified scripts about 0.05, prose and programs 0.15 and more."""


class Rewrites:
    """Fed with opens and renames in their order, and whether the run had made the file by then. ``given``:
    files that were there before the run began, as far as it wrote to them. ``cut``: those that were opened
    to append to and hold less than before, or something else (ftruncate and fcntl are not traced). ``data``:
    how many files with data the tree has, 0 where that is not known.
    """

    def __init__(self, given: Collection[str] = (), cut: Collection[str] = (), data: int = 0) -> None:
        self._data = data
        self._given = frozenset(given)
        self._cut = frozenset(cut)
        self._met: set[str] = set()
        self._links: dict[str, str] = {}
        self._rewritten: dict[str, set[str]] = {}

    def opened(self, event: Open, where: PathClass, *, made: bool) -> None:
        """One open, looked at before it counts as making the file."""
        path = posixpath.normpath(event.path)
        if path in self._links:
            path = self._links[path]
            where = classify_path(path)
        if where.kind not in MANY or where.noise or event.denied or "O_DIRECTORY" in event.flags:
            return None
        if event.writes and path in self._cut:
            self._add(where, path)
        if not event.writes or "O_APPEND" in event.flags:
            return self._meet(path, made=made)
        keeps = "O_TRUNC" not in event.flags and "O_EXCL" not in event.flags
        filled = "O_CREAT" not in event.flags or (keeps and event.access == "rw")
        there = path in self._given and "O_EXCL" not in event.flags
        if there or self._knew(path) or (filled and not made):
            self._add(where, path)
        if keeps and event.access == "rw":
            self._meet(path, made=made)  # by the same descriptor it may be read first
        return None

    def _meet(self, path: str, *, made: bool) -> None:
        if not made and len(self._met) < _KEPT:
            self._met.add(path)

    def renamed(self, new: str, where: PathClass, *, onto_own: bool) -> None:
        """A file is put in the place of another."""
        there = new in self._given or (not onto_own and self._knew(new))
        if where.kind in MANY and not where.noise and there:
            self._add(where, new)

    def linked(self, new: str, old: str) -> None:
        """A file that was there gets another name, by which it can be written to as well."""
        old = self._links.get(old, old)
        if old in self._given:
            if len(self._links) < _KEPT:
                self._links[new] = old
            else:
                self._add(classify_path(old), old)

    def _knew(self, path: str) -> bool:
        return path in self._met or len(self._met) >= _KEPT  # a flood of names hides nothing

    def _add(self, where: PathClass, path: str) -> None:
        paths = self._rewritten.setdefault(where.kind, set())
        if len(paths) < _KEPT:
            paths.add(path)

    def of(self, kind: str) -> frozenset[str]:
        """Paths of one place that got other content."""
        return frozenset(self._rewritten.get(kind, ()))

    def enough(self, kind: str, paths: Collection[str]) -> bool:
        """True when the loss of these files of one place is the loss of many."""
        if len(paths) >= MANY.get(kind, _LEAST):
            return True
        lost = data_files(paths) if kind == "tree" and self._data else 0
        return lost >= _LEAST and lost >= _SHARE * self._data

    def share(self, kind: str, paths: Collection[str]) -> dict[str, str]:
        """``{"share": "12 of 13"}`` where so many files are many only because the tree is small."""
        few = len(paths) < MANY.get(kind, _LEAST)
        return {"share": f"{data_files(paths)} of {self._data}"} if few else {}

    def finish(self, cells: Cells, heads: Mapping[str, bytes]) -> None:
        """Many are one fact, ``delete many files of home (overwritten)``. ``heads``: what changed files begin
        with, as far as that is known. ``written``: *as text* where nothing was read first, and what is known
        of many of them is words and lines, which is how a generator writes.
        """
        for kind, paths in sorted(self._rewritten.items()):
            if self.enough(kind, paths):
                detail = {"examples": " ".join(sorted(paths)[:3]), "how": "overwrites", "area": kind}
                detail |= self.share(kind, paths)
                known = [heads[path] for path in paths if path in heads]
                enough = len(known) >= min(MANY[kind], len(paths))
                if not paths & self._met and enough and all(map(words, known)):
                    detail["written"] = "as text"
                subject = f"{many(kind)} (overwritten)"
                cells.get(Kind.DELETE, subject, "", detail).count += len(paths)


def words(head: bytes) -> bool:
    """True for the beginning of a text of words and lines; not for random bytes, plain or in base64."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)  # it may end within a character
    except UnicodeDecodeError:
        return False
    spaces = sum(character.isspace() for character in text)
    return "\0" not in text and bool(text) and spaces >= _WORDS * len(text)


def many(kind: str) -> str:
    """The subject of many files of one place."""
    return "many files of " + ("the tree" if kind == "tree" else kind)
