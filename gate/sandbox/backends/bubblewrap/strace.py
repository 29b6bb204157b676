"""strace around the bubblewrap sandbox: started outside, as whoever runs gate, with the sandbox as its child.

Only where user notification cannot be had (gate/tracing/readers/strace.py). Nothing of it is inside: no
descriptor of strace's reaches the code, and the code's pid namespace does not show it.
"""

from __future__ import annotations

import os
import shutil
import time
from functools import cache
from pathlib import Path
from typing import Final

from gate import process
from gate.errors import InconclusiveError
from gate.tracing.readers import strace

INSTALL_HINT: Final = "On Debian and Ubuntu: apt-get install strace (5.10 or later)."
_ANNOUNCED: Final = ("/bin/sh", "-c", 'echo $$; read -r go && exec "$@"', "sh")
"""Tells its pid, which stays that of the sandbox's outer process, and waits for a line."""
_SECONDS: Final = 10.0


@cache
def find_strace() -> tuple[str, tuple[str, ...]]:
    """The path of strace, and which calls it can show. Raises InconclusiveError."""
    program = shutil.which("strace")
    if program is None:
        raise InconclusiveError("strace is not installed", advice=INSTALL_HINT)
    wanted = strace.printed_calls()
    known = tuple(name for name in wanted if _knows(program, name))
    if not known:
        said = process.run([program, "--seccomp-bpf", "-f", "-V"], deadline=5).stderr.decode(errors="replace")
        raise InconclusiveError(f"this strace cannot be used: {said.strip()[:200]}", advice=INSTALL_HINT)
    return program, known


def _knows(program: str, name: str) -> bool:
    return process.run([program, "-e", f"trace={name}", "-V"], deadline=5).code == 0


def strace_command(words: list[str], fifo: Path, user: int | None) -> list[str]:
    """The command line of strace around the sandbox's; ``user``: whom the sandbox becomes. Raises
    InconclusiveError.
    """
    program, known = find_strace()
    become: list[str] = []
    if user is not None:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise InconclusiveError("setpriv is not installed", advice="It is part of util-linux.")
        become = [setpriv, f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
    return [*strace.command(program, known, str(fifo)), *_ANNOUNCED, *become, *words]


def announced(fd: int) -> int:
    """The pid that the waiting shell says on its stdout. Raises InconclusiveError."""
    said = b""
    until = time.monotonic() + _SECONDS
    while not said.endswith(b"\n"):
        left = until - time.monotonic()
        part = os.read(fd, 1) if left > 0 and process.readable(fd, left) else b""
        if not part:
            raise InconclusiveError("strace started nothing", advice=INSTALL_HINT)
        said += part
    return int(said)
