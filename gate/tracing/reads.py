"""What a run read, by its trace: the files its result depends on, or why the trace does not prove that.

For runs that are kept (gate/sandbox/kept_runs.py). A path counts when the code asked about it in any way. The
proof holds where nobody but the asking thread can have changed a path between our look and the kernel's: one
process at a time, no shared memory, no asynchronous input, no second name for a file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex
from gate.tracing.events import (
    CALL_TYPES,
    Attempt,
    Event,
    Exec,
    Exit,
    File,
    Fork,
    Memfd,
    Net,
    Open,
    PathQuery,
    Process,
    Signal,
    Socket,
)

MOST_PATHS: Final = 50_000
"""Different paths of one run; beyond that nothing is proven."""
_SECOND_NAMES: Final = regex(r"(?:sym)?link|rename|mknod")
_ODD_FLAGS: Final = frozenset(("O_DIRECT", "O_ASYNC", "O_TMPFILE", "FASYNC"))
_MACHINE: Final = ("/proc", "/sys", "/dev/fd", "/dev/std")
"""What tells of the machine, of other processes and of free room, and second names of open files."""
_HARMLESS: Final = frozenset(("/proc/self/maps", "/proc/self/status", "/proc/self/stat", "/proc/filesystems"))
"""What interpreters and their libraries read of themselves; a path there leads to no file of the tree."""


@dataclass
class Reads:
    """Hears the events of one trace, in order. ``links``: paths of the tree, as in a trace, that lead
    elsewhere. ``items``: how many processes the driver forks, one after the other.
    """

    links: Collection[str] = ()
    items: int = 0
    paths: set[str] = field(default_factory=set)
    """Every path asked about, absolute, without ``..``."""
    opened: set[str] = field(default_factory=set)
    """Those that were opened or executed."""
    network: bool = False
    """Something was sent, received or waited for."""
    doubt: str = ""
    """Why the trace does not prove what was read; the first reason. Empty: it does."""
    _first: int = -1
    _forks: int = 0
    _alive: set[int] = field(default_factory=set)

    def hear(self, event: Event) -> None:
        """One event."""
        if isinstance(event, (Process, Exit, Fork)):
            self._process(event)
        elif isinstance(event, (Open, PathQuery, Exec, File)):
            self._file(event)
        elif isinstance(event, Net) or (isinstance(event, Socket) and event.family != "AF_UNIX"):
            self.network = True
        elif isinstance(event, (Attempt, Memfd)):
            self._doubt(f"{event.call} was asked for")
        elif isinstance(event, Signal) and event.scope != "self":
            self._doubt("another process was signalled")
        if isinstance(event, CALL_TYPES) and (event.abi != "native" or event.denied):
            self._doubt(f"{event.call} was refused or came by another way")

    def ended(self) -> str:
        """After the last event: the reason why nothing is proven, empty where it is."""
        if self._forks != self.items:
            self._doubt("there were other processes than the driver's own")
        if len(self.paths) > MOST_PATHS:
            self._doubt("too many paths were asked about")
        return self.doubt

    def _doubt(self, why: str) -> None:
        self.doubt = self.doubt or why

    def _file(self, event: Open | PathQuery | Exec | File) -> None:
        if isinstance(event, PathQuery):
            self._path(event.path)
        elif isinstance(event, File):
            self._path(event.path, event.other if "symlink" not in event.call else "")
            if _SECOND_NAMES.match(event.call):
                self._doubt("a file got another name")
        else:
            self._path(event.path, event.asked, opened=True)
            if isinstance(event, Open) and not _ODD_FLAGS.isdisjoint(event.flags.split("|")):
                self._doubt("a file was opened for asynchronous or nameless use")

    def _path(self, *asked: str, opened: bool = False) -> None:
        for path in filter(None, asked):
            plain = posixpath.normpath(path)
            if not path.startswith("/"):
                self._doubt("a path is not known from its beginning")
            if plain.startswith(_MACHINE) and plain not in _HARMLESS:
                self._doubt(f"it asked about {plain}")
            for name in {path, plain}:
                if self.links and self._through_link(name):
                    self._doubt("it went through a link of the tree")
            if len(self.paths) <= MOST_PATHS:
                self.paths.add(plain)
                if opened:
                    self.opened.add(plain)

    def _through_link(self, path: str) -> bool:
        if path in self.paths:
            return False  # looked at before
        while len(path) > 1:
            if path in self.links:
                return True
            path = posixpath.dirname(path)
        return False

    def _process(self, event: Process | Exit | Fork) -> None:
        """The driver's children come one after the other, and have none of their own."""
        if isinstance(event, Process):
            if self._first < 0:
                self._first = event.pid
            elif event.pid != self._first:
                self._alive.add(event.pid)
        elif isinstance(event, Exit):
            self._alive.discard(event.pid)
        else:
            self._forks += 1
            own = event.pid == self._first and not event.tid and not event.thread and not event.flags
            if not own or self._alive:
                self._doubt("the code started a thread or a process")
