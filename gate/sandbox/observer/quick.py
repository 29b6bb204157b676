"""The few calls that programs make by the thousand, answered with the least work.

A watched program waits while we look, on the processor we look with, and what we touch pushes its data
out of the caches: so here is only what must happen before the answer (reading the path), and the line is
written later, many at once. What is not plain (a relative path, a link, a canary to guard, a process not
met yet) is left to the supervisor's own way, which says the same with more words; a test holds them together.
Standard library only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from . import flags
from .links import Links
from .listener import Listener
from .target import Memory, Process, Unreadable
from .writer import Writer

_FIRST: Final = 6  # where the arguments begin in a notification
_LOOKS = {
    "stat": 0,
    "lstat": 0,
    "access": 0,
    "readlink": 0,
    "newfstatat": 1,
    "statx": 1,
    "faccessat": 1,
    "faccessat2": 1,
    "readlinkat": 1,
}
_OPENS = {"open": 0, "openat": 1}


class Quick:
    """``take`` answers a notification when it is one of the plain ones."""

    def __init__(
        self, listener: Listener, memory: Memory, links: Links, writer: Writer, names: Mapping[int, str]
    ) -> None:
        self._listener = listener
        self._memory = memory
        self._links = links
        self._writer = writer
        by_name = {name: number for number, name in names.items()}
        table = [("look", name, at) for name, at in _LOOKS.items()]
        table += [("open", name, at) for name, at in _OPENS.items()]
        table.append(("file", "ftruncate", 0))
        self.known: dict[int, tuple[str, str, int]] = {
            by_name[name]: (kind, name, at) for kind, name, at in table if name in by_name
        }

    def take(self, me: Process, what: tuple[str, str, int], found: tuple[int, ...]) -> bool:
        """Answer, and keep the line for later. False: not answered, this one needs the long way.

        ``found``: the fields of struct seccomp_notif, its six arguments last. Raises OSError for what
        is neither the caller's death nor an interruption.
        """
        kind, name, at = what
        if self._writer.spent(kind):
            return False
        tail = "}"
        if kind == "file":
            size = found[_FIRST + 1]
            if size >> 63:
                return False
            try:
                path = os.readlink(b"/proc/%d/fd/%d" % (found[1], found[_FIRST] & 0x7FFFFFFF))
            except OSError:
                return False
            tail = f',"size":{size}}}'
        else:
            try:
                path = self._memory.short(found[1], found[_FIRST + at])
            except Unreadable:
                return False
            if not path.startswith(b"/"):
                return False
            if kind == "open":
                bits = found[_FIRST + at + 1] & 0xFFFFFFFF
                if flags.opened(bits) != ("r", "") or not self._links.plain(path):
                    return False
                tail = ',"access":"r"}'
        if self._listener.answer(found[0]):  # else: the caller died, it never happened
            self._writer.later(kind, me.head(kind, name, found[1]), path, tail)
        return True
