"""Waits for the processes that an item left behind: their end is part of what it does.

A fixed time would say more of the machine than of the code: on a busy one, a child that was about to end is
still starting. So what works goes on for some time more, and what only sleeps does not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

MORE = 4
"""Times the grace that processes which work have in all."""
_PAUSE = 0.01
_LOOK = 0.3
"""Seconds between two looks at whether they work."""


def adopt() -> None:
    """Become the parent of what children leave behind (PR_SET_CHILD_SUBREAPER), to wait for it."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return


def left(grace: float, until: float, apart: Sequence[int] = ()) -> bool:
    """Wait for children for ``grace`` seconds, longer while they work, never past ``until``
    (time.monotonic()). True when some are still there, but for those ``apart``.
    """
    begun = time.monotonic()
    most = min(until, begun + MORE * grace)
    look = min(until, begun + grace)
    before: list[str] | None = None
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid != 0:
            continue
        if apart and set(_children()) <= set(apart):
            return False
        if time.monotonic() >= look:
            now = work(apart)
            if time.monotonic() >= most or rests(before, now):
                return True
            before, look = now, min(most, time.monotonic() + _LOOK)
        time.sleep(_PAUSE)


def rests(before: list[str] | None, now: list[str]) -> bool:
    """Did nothing work between two looks (work)?"""
    return now == before and not any(line.startswith("R") for line in now)


def _children() -> list[int]:
    """The processes that this one is the parent of."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            listed = file.read().split()
        return [int(name) for name in set(listed).intersection(os.listdir("/proc"))]  # gVisor lists threads
    except OSError:  # a kernel without that list
        ours = str(os.getpid())
        return [int(name) for name, (parent, _) in _processes().items() if parent == ours]


def _processes() -> dict[str, tuple[str, str]]:
    """Of each process, by number: its parent, and its state, number, name and the processor time it took."""
    found: dict[str, tuple[str, str]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                called, _, rest = file.read().rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        if len(fields) > 12:
            found[name] = fields[1], f"{fields[0]} {called} {fields[11]} {fields[12]}"
    return found


def work(apart: Sequence[int] = ()) -> list[str]:
    """Of every process below this one, but for those ``apart``: its state, number, name, processor time."""
    found = _processes()
    below: list[str] = []
    todo = [str(os.getpid())]
    while todo:
        above = todo.pop()
        children = [
            name
            for name, (parent, _) in found.items()
            if parent == above and name not in below and int(name) not in apart
        ]
        below += children
        todo += children
    return sorted(found[name][1] for name in below)
