"""What the file system says changed, beside the calls that were seen to change something."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from gate.inside.observer.text import bytes_of, text_of
from gate.model.behaviour import BehaviourKind as Kind
from gate.model.canary import Canary
from gate.model.run import RunRecord, Touched
from gate.regex import regex
from gate.tracing.behaviour.accumulator import Cells
from gate.tracing.behaviour.outgoing_data import Channels
from gate.tracing.behaviour.paths import classify_path
from gate.tracing.events import File, Open

UNWRITTEN: Final = "file changed by nothing that the tracer saw"
_KEPT: Final = 200_000
_HOPS: Final = 16
_NO_TEXT: Final = regex("[\udc80-\udcff]")
_ALIAS: Final = regex(r"/var/run(?=/)")


class DiskView:
    """Keeps which paths were written, renamed or linked; used once, after the trace was read."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._written: set[str] = set()
        self.replaced = False
        """The tracer told U+FFFD for each byte of a name that is no UTF-8 (gVisor's)."""
        self._moved: dict[str, set[str]] = defaultdict(set)
        self._moves = 0

    def opened(self, event: Open) -> None:
        """An open: may it change the file?"""
        if event.writes:
            self._note(event.path, event.asked)

    def changed(self, event: File) -> None:
        """A call that changes the tree: what it names is accounted for."""
        self._note(event.path)
        if event.call.startswith("rename"):
            self._note(event.other)
            self._move(event.path, event.other)
            if "EXCHANGE" in event.flags:
                self._move(event.other, event.path)
        elif event.call.startswith("link"):
            self._note(event.other)

    def _note(self, *paths: str) -> None:
        if len(self._written) < _KEPT:
            self._written.update(_plain(path) for path in paths if path)

    def _move(self, new: str, old: str) -> None:
        if self._moves < _KEPT:
            self._moves += 1
            self._moved[_plain(new)].add(_plain(old))

    def finish(self, touched: Iterable[Touched]) -> None:
        """Tell of files without a call that could have written them. Only for whole traces."""
        if len(self._written) >= _KEPT or self._moves >= _KEPT:
            return  # too much to compare: a flood, which is told by itself
        names: dict[tuple[int, int], list[str]] = defaultdict(list)
        for file in touched:
            path = _replaced(file.path) if self.replaced else file.path
            names[file.device, file.inode].append(path)
        for paths in names.values():
            if not any(self._accounted(path) for path in paths):
                self._cells.add(Kind.EVADE, UNWRITTEN, "", {"path": classify_path(paths[0]).shown})

    def _accounted(self, path: str) -> bool:
        """Written under this name, or under an earlier name of one of its folders."""
        seen, todo = {path}, [path]
        while todo and len(seen) < _HOPS * 16:
            now = todo.pop()
            if now in self._written:
                return True
            above = now
            while above not in ("/", ""):
                for old in self._moved.get(above, ()):
                    earlier = old + now[len(above) :]
                    if earlier not in seen:
                        seen.add(earlier)
                        todo.append(earlier)
                above = posixpath.dirname(above)
        return False


def files_left(record: RunRecord, planted: Iterable[Canary], channels: Channels, cells: Cells) -> None:
    """What changed files begin with, as a place where data is left; and disks without room for more."""
    own = {_plain(canary.path) for canary in planted if canary.path}
    for path, head in record.heads:
        if _plain(path) not in own:
            channels.add("file", classify_path(path).shown, head)
    for root in record.full:
        cells.add(Kind.LIMIT, "disk", "", {"path": classify_path(root).shown})


def _replaced(path: str) -> str:
    """U+FFFD for each byte that belongs to no character, as Go writes it."""
    text = bytes_of(path).decode("utf-8", "surrogateescape")
    return text_of(_NO_TEXT.sub("\ufffd", text).encode("utf-8", "replace"))


def _plain(path: str) -> str:
    return _ALIAS.sub("/run", posixpath.normpath(path))
