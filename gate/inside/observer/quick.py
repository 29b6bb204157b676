"""The few calls that programs make by the thousand, answered with the least work.

A watched program waits while we look, on the processor we look with, and what we touch pushes its data
out of the caches: so here is only what must happen before the answer (reading the path), in one function,
and the line is written later, many at once. What is not plain (a relative path, a link, a canary to guard, a
process not met yet) is left to the supervisor's own way, which says the same with more words; a test holds
them together. Standard library only.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from . import flags
from .links import Links
from .listener import Listener
from .target import Process
from .writer import Writer

_FIRST: Final = 6  # where the arguments begin in a notification
_SHORT: Final = 256
_SLASH: Final = ord("/")
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


def taker(
    listener: Listener,
    links: Links,
    writer: Writer,
    names: Mapping[int, str],
    *,
    arch: int,
    tids: Mapping[int, Process],
    calls: Counter[str],
) -> Callable[[tuple[int, ...]], bool]:
    """A function that answers a notification when it is one of the plain ones, of a thread in ``tids``, and
    counts it in ``calls``. It calls few others: with cold caches each costs a microsecond.
    """
    by_name = {name: number for number, name in names.items()}
    known: dict[int, tuple[str, str, int]] = {
        by_name[name]: (kind, name, _FIRST + at)
        for kind, table in (("look", _LOOKS), ("open", _OPENS))
        for name, at in table.items()
        if name in by_name
    }
    later, answer, under_way, pread = writer.later, listener.answer, links.under_way, os.pread
    special = 0xFFFFFFFF & ~flags.HUSHED

    def take(found: tuple[int, ...]) -> bool:
        """Answer, and keep the line for later. False: not answered, this one needs the long way.

        ``found``: the fields of struct seccomp_notif, its six arguments last. Raises OSError for what
        is neither the caller's death nor an interruption.
        """
        tid = found[1]
        if under_way:
            under_way.pop(tid, None)  # what it asked for before has ended
        what = known.get(found[3])
        if what is None or found[4] != arch:
            return False
        me = tids.get(tid)
        if me is None or me.recheck:
            return False
        kind, name, at = what
        try:
            start = pread(me.memory if me.memory >= 0 else me.open_memory(), _SHORT, found[at])
        except (OSError, OverflowError):  # nothing there
            return False
        end = start.find(0)
        if end < 1 or start[0] != _SLASH:
            return False
        path = start[:end]
        tail = "}"
        if kind == "open":
            if found[at + 1] & special or not links.plain(path):
                return False
            tail = ',"access":"r"}'
        calls[name] += 1
        if answer(found[0]):  # else: the caller died, it never happened
            later(kind, me.heads.get((name, tid)) or me.head(kind, name, tid), path, tail)
        return True

    return take


def nobody(links: Links) -> Callable[[tuple[int, ...]], bool]:
    """The same where there are canaries to guard: it answers none."""

    def take(found: tuple[int, ...]) -> bool:
        links.under_way.pop(found[1], None)  # what it asked for before has ended
        return False

    return take
