"""Which file a descriptor is, for paths through /proc/PID/fd and /dev/fd, behind gVisor.

Its kernel tells such a path as it was written. Descriptors are known from the ends of the calls that make
them; closing one need not be known, as its number means nothing until another call gives it anew. Not known
is one that came in a message (SCM_RIGHTS): where one was sent, seccheck.py counts opens through any.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from gate.inside.observer.paths import signed

OPENS: Final = frozenset(("open", "openat", "creat"))
ONLY_ENDS: Final = frozenset(("dup", "dup2", "dup3", "fcntl", "accept", "accept4"))
DESCRIPTORS: Final = OPENS | ONLY_ENDS | {"memfd_create", "socket"}
"""Calls whose result is a new descriptor that can be opened once more, or that ends an older meaning; those
with two descriptors are told in another way.
"""
_DUPS: Final = frozenset(("dup", "dup2", "dup3"))
_F_DUPFD, _F_DUPFD_CLOEXEC = 0, 1030
_CLONE_FILES: Final = 0x400
THREADS_SHARE: Final = 0x600
"""CLONE_FS and CLONE_FILES: no thread library leaves them out; a thread without them is not followed."""
_KEPT: Final = 16
"""Earlier files of one descriptor, for calls that are told a little later."""
MEMFD: Final = "/memfd:"
INET: Final = "socket"
"""A socket that is no Unix one: it passes no descriptors on."""
_AF_UNIX: Final = 1


class Descriptors:
    """One process's, or those of several that share them. A file is "" where nothing is known of it; only
    what begins with a slash is a path.
    """

    def __init__(self, known: dict[int, list[tuple[int, str]]] | None = None) -> None:
        self._known: dict[int, list[tuple[int, str]]] = known or {}

    def child(self, clone_flags: int) -> Descriptors:
        """Those of a new process."""
        if clone_flags & _CLONE_FILES:
            return self
        return Descriptors({fd: was[-1:] for fd, was in self._known.items()})

    def at(self, fd: int, moment: int) -> str:
        """The file, at that moment (nanoseconds, the sandbox's clock)."""
        was = self._known.get(fd)
        if not was:
            return ""
        return was[max(0, bisect_right(was, moment, key=lambda one: one[0]) - 1)][1]

    def is_now(self, fd: int, path: str, moment: int) -> None:
        """A descriptor was given."""
        was = self._known.setdefault(fd, [])
        was.append((moment, path))
        if len(was) > 2 * _KEPT:
            was[:_KEPT] = [(0, "")]  # what it was before is not known any more

    def ended(self, name: str, args: Sequence[int], result: int, opened: str, moment: int) -> None:
        """One of DESCRIPTORS ended well. ``opened``: the path of an open."""
        path = ""
        if name in OPENS:
            path = opened
        elif name == "memfd_create":
            path = MEMFD
        elif name in _DUPS:
            path = self.at(signed(args[0]), moment)
        elif name == "socket":
            path = "" if signed(args[0]) == _AF_UNIX else INET
        elif name == "fcntl":
            if signed(args[1]) not in (_F_DUPFD, _F_DUPFD_CLOEXEC):
                return
            path = self.at(signed(args[0]), moment)
        self.is_now(result, path, moment)
