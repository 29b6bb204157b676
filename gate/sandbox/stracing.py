"""strace around the process wall: started outside, as whoever runs gate, with the wall as its child.

Only where user notification cannot be had (gate/trace/strace.py). Nothing of it is inside: no descriptor of
strace's reaches the code, and the code's pid namespace does not show it.
"""

from __future__ import annotations

import os
import select
import shutil
import time
from functools import cache
from pathlib import Path
from typing import Final

from gate import proc
from gate.errors import CouldNotLook
from gate.trace import strace

HOW_TO_GET: Final = "On Debian and Ubuntu: apt-get install strace (5.10 or later)."
_ANNOUNCED: Final = ("/bin/sh", "-c", 'echo $$; read -r go && exec "$@"', "sh")
"""Tells its pid, which stays that of the wall's outer process, and waits for a line."""
_SECONDS: Final = 10.0


@cache
def found() -> tuple[str, tuple[str, ...]]:
    """The path of strace, and which calls it can show. Raises CouldNotLook."""
    program = shutil.which("strace")
    if program is None:
        raise CouldNotLook("strace is not installed", advice=HOW_TO_GET)
    wanted = strace.shown()
    known = tuple(name for name in wanted if _knows(program, name))
    if not known:
        said = proc.run([program, "--seccomp-bpf", "-f", "-V"], deadline=5).stderr.decode(errors="replace")
        raise CouldNotLook(f"this strace cannot be used: {said.strip()[:200]}", advice=HOW_TO_GET)
    return program, known


def _knows(program: str, name: str) -> bool:
    return proc.run([program, "-e", f"trace={name}", "-V"], deadline=5).code == 0


def around(words: list[str], fifo: Path, user: int | None) -> list[str]:
    """The command line of strace around a wall's; ``user``: whom the wall becomes. Raises CouldNotLook."""
    program, known = found()
    become: list[str] = []
    if user is not None:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise CouldNotLook("setpriv is not installed", advice="It is part of util-linux.")
        become = [setpriv, f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
    return [*strace.command(program, known, str(fifo)), *_ANNOUNCED, *become, *words]


def announced(fd: int) -> int:
    """The pid that the waiting shell says on its stdout. Raises CouldNotLook."""
    said = b""
    until = time.monotonic() + _SECONDS
    while not said.endswith(b"\n"):
        left = until - time.monotonic()
        part = os.read(fd, 1) if left > 0 and select.select([fd], [], [], left)[0] else b""
        if not part:
            raise CouldNotLook("strace started nothing", advice=HOW_TO_GET)
        said += part
    return int(said)
