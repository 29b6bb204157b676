"""Runs inside the installing sandbox: bytecode beside every installed module.

Without it each interpreter that meets the packages compiles them anew, which is half of what an application's
start costs, and a check starts applications dozens of times. The files hold whatever times the sources get
later. Bytecode that came along is made anew, too; what does not compile stays as it was. Standard library
only; nothing is imported or run. Usage: bytecode.py FOLDER SECONDS
"""

from __future__ import annotations

import contextlib
import os
import py_compile
import signal
import sys
import time

MOST_WORKERS = 4
_LEFT_OUT = frozenset({"tests", "test", "__pycache__"})
"""Folders of packages' own tests: many files, and nobody imports them."""
_WAIT = 0.02


def sources(folder: str) -> list[str]:
    """Every module below a folder, in a fixed order."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        found += [os.path.join(place, name) for name in sorted(names) if name.endswith(".py")]
    return found


def compile_below(folder: str, seconds: float) -> None:
    """Compile what lies there, in processes of their own, for so many seconds at most. Never raises for what
    the files hold.
    """
    files, until = sources(folder), time.monotonic() + seconds
    if not files:
        return
    count = min(MOST_WORKERS, os.cpu_count() or 1)
    workers = [_started(files[number::count], until) for number in range(count)]
    while workers and time.monotonic() < until:
        workers = [pid for pid in workers if os.waitpid(pid, os.WNOHANG)[0] == 0]
        time.sleep(_WAIT)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _started(files: list[str], until: float) -> int:
    """A child that compiles these files: one that ends the compiler ends the child."""
    pid = os.fork()
    if pid:
        return pid
    with contextlib.suppress(BaseException):
        for file in files:
            if time.monotonic() >= until:
                break
            with contextlib.suppress(Exception):
                mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
                py_compile.compile(file, doraise=True, invalidation_mode=mode)
    os._exit(0)


if __name__ == "__main__":
    compile_below(sys.argv[1], float(sys.argv[2]))
