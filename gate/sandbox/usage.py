"""What a process and all its descendants use, read from /proc (proc(5)) by anybody."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def memory_below(pid: int) -> int:
    """Bytes of memory that belong to ``pid`` and its descendants alone (resident less shared)."""
    return sum(_private_memory(one) for one in (pid, *descendants(pid)))


def descendants(pid: int) -> list[int]:
    """Children, their children and so on, as they are now."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  # the quickest way, polled
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = Path(f"/proc/{name}/stat").read_bytes()
                children.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(int(name))
    found: list[int] = []
    todo = [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _private_memory(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        _, resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[:3]
        return (int(resident) - int(shared)) * _PAGE
    return 0
