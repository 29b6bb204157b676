"""Moves the clock of programs that are not the driver: libfaketime, loaded ahead of their own libraries.

The launcher, the driver and its alarms never have it: it is put into the environment of a forked child, and
acts in what that child becomes or starts. Not reached are static programs, raw system calls, file times, and
what is started without these variables.

Only the time of day is moved (FAKETIME_DONT_FAKE_MONOTONIC): with another monotonic clock than the kernel's,
waits that libfaketime 0.9.10 does not know of (sem_clockwait, futex) would last for ever. File times are left
alone (NO_FAKE_STAT), as it does not know ``statx``.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Callable

from . import runtimes

Environment = dict[str, str]

LIBRARY = "libfaketime.so.1"
SHARED = "gate-clock-"
"""How the names in shared memory begin (see gate/tracing/behaviour/paths.py): a semaphore, the start."""
_MEMORY = "/dev/shm/"
_FOLDERS = ("/usr/lib/{arch}/faketime", "/usr/lib64/faketime", "/usr/lib/faketime", "/usr/local/lib/faketime")
_SECOND = 10**9
_HURRIED = frozenset({"shell", "program", "make", "lifecycle"})
"""Verbs in which sleeps pass faster. Runtimes have clocks of their own, which would not agree."""
_PROGRAMS = _HURRIED | {"javascript_main"}
"""Verbs whose code runs in other programs only: `report_clock_source` says which ones the library reaches."""
_PT_INTERP = 3

_say: list[Callable[[str], None]] = []


def find_library() -> str | None:
    """Where the library is in this sandbox, None where it is not."""
    arch = getattr(sys.implementation, "_multiarch", "") or f"{os.uname().machine}-linux-gnu"
    places = (f"{folder.format(arch=arch)}/{LIBRARY}" for folder in _FOLDERS)
    return next((place for place in places if os.path.exists(place)), None)


def move(verb: str, seconds: float, rate: int, say: Callable[[str], None]) -> Environment:
    """In a child: move the clock of what it becomes or starts, where the sandbox can; ``say`` hears by
    whom. Returns what a JavaScript runtime shall add to its environment once it runs: it moves its clock by
    itself, and with these it would be moved twice.
    """
    moved = environment(seconds, rate if verb in _HURRIED else 1, say)
    if verb != "javascript":
        os.environ.update(moved)
    if moved and verb not in _PROGRAMS:
        say("javascript, libfaketime" if verb == "javascript" else "python, libfaketime")
    return moved if verb == "javascript" else {}


def environment(seconds: float, rate: int, say: Callable[[str], None]) -> Environment:
    """Variables that move the clock by ``seconds`` and let sleeps pass ``rate`` times as fast; empty where
    that cannot be. ``say`` will be told by whom the clock of the child's program is moved.
    """
    library = find_library()
    name = SHARED + str(os.getppid())
    try:
        if library is None or not _share(name, int(seconds), rate):
            return {}
    except OSError:
        return {}
    _say[:] = [say]
    return {
        "LD_PRELOAD": " ".join(filter(None, (library, os.environ.get("LD_PRELOAD")))),
        "FAKETIME": f"{int(seconds):+d}" + (f" x{rate}" if rate > 1 else ""),
        "FAKETIME_SHARED": f"/{name} /{name}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }


def report_clock_source(program: str) -> None:
    """Say by whom the clock of this program, which we start or become, is moved."""
    if _say:
        _say[0]("libfaketime" if _loads_libraries(program) else "nobody")


def remove_shared_clock() -> None:
    """In the driver: remove what its children shared."""
    for path in _paths(SHARED + str(os.getpid())):
        if os.path.lexists(path):
            os.unlink(path)


def _paths(name: str) -> tuple[str, str]:
    return f"{_MEMORY}sem.{name}", _MEMORY + name


def _share(name: str, seconds: int, rate: int) -> bool:
    """Lay out what all processes of a child share: one start for all, so that a loop over ``date`` gets on,
    too. Left to itself each program would make such files, and which, nobody could foretell.

    The layouts are those of glibc's named semaphore (64 bit) and of libfaketime's ``struct ft_shared_s``.
    The library counts a monotonic clock from its start as from the moved date (``clock_nanosleep`` until a
    moment: every sleep of Python 3.11; ``pthread_cond_timedwait``), though it was told to leave that clock
    alone; the start below is the one for which what it counts is the kernel's clock, ``rate`` times as fast.
    """
    if struct.calcsize("P") != 8 or sys.byteorder != "little":
        return False
    real, steady = time.time_ns(), time.monotonic_ns()
    start = steady - steady // rate + (real + seconds * _SECOND) // rate
    moments = (part for moment in (real, start, start, start) for part in divmod(moment, _SECOND))
    semaphore = struct.pack("<Qii16x", 1, 128, 0)  # one may enter; shared between processes
    gate, memory = _paths(name)
    for path, content in ((gate, semaphore), (memory, struct.pack("<16x8q", *moments))):
        if os.path.lexists(path):
            os.unlink(path)
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, content)
        finally:
            os.close(file)
    return True


def _loads_libraries(program: str, depth: int = 0) -> bool:
    """True for a program that glibc's loader starts, or a script whose interpreter is one."""
    if program == runtimes.DENO:
        return True  # the sandbox's own, not looked at: that would be a read of the code's
    try:
        with open(program, "rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    if head.startswith(b"#!") and depth < 2:
        words = head[2:].split(b"\n", 1)[0].split()
        return bool(words) and _loads_libraries(os.fsdecode(words[0]), depth + 1)
    if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
        return False
    (table,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    for at in range(table, table + size * count, size or 1):
        if at + 40 > len(head):
            break
        if struct.unpack_from("<I", head, at)[0] == _PT_INTERP:
            start, length = struct.unpack_from("<Q16xQ", head, at + 8)
            return b"/ld-linux" in head[start : start + length]
    return False
