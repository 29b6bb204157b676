"""Ends programs that serve: one that listens and has nothing to do waits for requests, and would for ever.

A Python script is told by its own socket calls (program_runner.py). What replaces the driver's child (Node,
a shell, make) is looked at from outside: the kernel's list of listening sockets, and the processor time of
all that runs below the driver. Work of any kind goes on to its end or to the item's time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Any

from . import orphans

_TABLES = (
    ("/proc/net/tcp", 3, "0A", 9),
    ("/proc/net/tcp6", 3, "0A", 9),
    ("/proc/net/unix", 3, "00010000", 6),
)
"""File, column of the state, what it is while listening, column of the inode."""
_BETWEEN = 1.0
"""Seconds between two looks at whether anything works."""
_TO_END = 2.0
"""Seconds that it has to end by itself."""


def patience(job: dict[str, Any]) -> float:
    """Seconds that one run of a program gets before it may be a server."""
    return float(job.get("each_script", 5.0))


class Server:
    """Watches one program, the leader of its process group. ``patience``: seconds that it runs at least."""

    def __init__(self, patience: float) -> None:
        self._before = listening()
        self._next = time.monotonic() + patience
        self._work: list[str] | None = None
        self.ended = False
        """It was ended, because it served."""

    def look(self, pid: int, apart: list[int]) -> None:
        """Ask it to end when it listens and rested between two looks; a second later it is not asked.
        ``apart``: processes of ours that are none of its business.
        """
        now = time.monotonic()
        if now < self._next:
            return
        if self.ended:
            _signal(pid, signal.SIGKILL)
            self._next = now + _TO_END
            return
        self._next = now + _BETWEEN
        work = orphans.work(apart) if listening() - self._before else None
        if work is not None and orphans.rests(self._work, work):
            self.ended = True
            _signal(pid, signal.SIGTERM)
            self._next = now + _TO_END
        self._work = work


def listening() -> set[str]:
    """The inodes of all sockets of this network that listen; empty where the kernel does not tell."""
    found = set()
    for path, state, listens, inode in _TABLES:
        with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
            rows = [line.split() for line in file]
            found |= {row[inode] for row in rows if len(row) > inode and row[state] == listens}
    return found


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(pid, number)
