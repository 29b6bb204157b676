"""Waits for the processes that an item left behind: their end is part of what it does.

A fixed time would say more of the machine than of the code: on a busy one, a child that was about to end is
still starting. So what works goes on for some time more, and what only sleeps does not.
"""

from __future__ import annotations

import os
import time

MORE = 4
"""Times the grace that processes which work have in all."""
_PAUSE = 0.01
_LOOK = 0.3
"""Seconds between two looks at whether they work."""


def left(grace: float, until: float) -> bool:
    """Wait for children for ``grace`` seconds, longer while they work, never past ``until``
    (time.monotonic()). True when some are still there.
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
        if time.monotonic() >= look:
            now = _work()
            if time.monotonic() >= most or (now == before and not any(line.startswith("R") for line in now)):
                return True
            before, look = now, min(most, time.monotonic() + _LOOK)
        time.sleep(_PAUSE)


def _work() -> list[str]:
    """Of every process below this one: its state, number, name, and the processor time that it took."""
    parents: dict[str, str] = {}
    lines: dict[str, str] = {}
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
            parents[name] = fields[1]
            lines[name] = f"{fields[0]} {called} {fields[11]} {fields[12]}"
    below: list[str] = []
    todo = [str(os.getpid())]
    while todo:
        above = todo.pop()
        children = [name for name, parent in parents.items() if parent == above and name not in below]
        below += children
        todo += children
    return sorted(lines[name] for name in below)
