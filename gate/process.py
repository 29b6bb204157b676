"""The one door to subprocess: argument lists, a deadline, group kill, capped output, clean environment."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from gate.dataclass import dataclass
from gate.errors import InconclusiveError

_CHUNK = 1 << 16
_STOP = threading.Event()


def stop_all() -> None:
    """End every child within a quarter of a second, whichever thread waits for it (interrupts).

    For good: a command that is started later in this process ends at once, too.
    """
    _STOP.set()


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """A finished process. ``code`` is negative for a signal; ``timed_out`` when we killed it."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool
    truncated: bool
    """Output beyond the cap was read and thrown away."""

    @property
    def ok(self) -> bool:
        """Exit 0, in time, nothing cut off."""
        return self.code == 0 and not self.timed_out and not self.truncated


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The few variables a child needs; nothing that configures a tool, no secrets."""
    keep = {"PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"), "LC_ALL": "C.UTF-8"}
    return keep | dict(extra or {})


def run(
    argv: Sequence[str | bytes | Path],
    *,
    deadline: float,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    cap: int = 64 << 20,
    limits: Mapping[int, int] | None = None,
) -> Done:
    """Run one program to its end and return what it said.

    ``env`` is added to a clean environment. ``deadline`` is seconds of wall time; past it the
    whole process group is killed. ``cap`` bounds each kept stream, bytes. ``limits`` are resource
    limits (``resource.RLIMIT_*``, in their own units), set as soon as the child is there and before it
    is given anything; never above what this process may have.

    Raises InconclusiveError when the program cannot be started.
    """
    words = [os.fspath(word) for word in argv]
    shown = tuple(os.fsdecode(word) for word in words)
    start = time.monotonic()
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=clean_environment(env),
            start_new_session=True,
        )
    except OSError as error:
        raise InconclusiveError(
            f"cannot start {shown[0]}: {error.strerror or error}",
            advice="`gate doctor` says what is missing and how to get it.",
        ) from error
    try:
        _limit(child.pid, limits or {})
        out, err, timed_out, cut = exchange(child, stdin, start + deadline, cap)
    finally:
        kill_group(child)
    return Done(
        argv=shown,
        code=child.returncode,
        stdout=out,
        stderr=err,
        seconds=time.monotonic() - start,
        timed_out=timed_out,
        truncated=cut,
    )


class HasFileno(Protocol):
    """A socket, a pipe, a file."""

    def fileno(self) -> int:
        """Its descriptor."""


class Child(Protocol):
    """What `exchange` needs of a process: subprocess.Popen is one."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code; raises subprocess.TimeoutExpired."""


def _limit(pid: int, limits: Mapping[int, int]) -> None:
    """Not by code between fork and exec: another thread may hold a lock that the child would wait for."""
    with contextlib.suppress(ProcessLookupError):
        for kind, value in limits.items():
            hard = resource.prlimit(pid, kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, kind, (bound, bound))


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """End the child's whole group (it leads its own session) and reap the child."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def exchange(child: Child, stdin: bytes, until: float, cap: int) -> tuple[bytes, bytes, bool, bool]:
    """Feed stdin and drain both streams until they close, or until ``until`` (time.monotonic).

    Standard output, standard error, whether time was up, whether a stream was longer than ``cap`` bytes.
    The caller ends the child.
    """
    if not (child.stdin and child.stdout and child.stderr):
        raise ValueError("the child needs three pipes")
    kept = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
    out, err = kept.values()
    cut = False
    todo = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for stream in (child.stdout, child.stderr):
            selector.register(stream, selectors.EVENT_READ)
        if todo:
            os.set_blocking(child.stdin.fileno(), False)
            selector.register(child.stdin, selectors.EVENT_WRITE)
        else:
            child.stdin.close()
        while selector.get_map():
            left = until - time.monotonic()
            if left <= 0 or _STOP.is_set():
                return bytes(out), bytes(err), True, cut
            for key, _ in selector.select(min(left, 0.25)):
                if key.fileobj is child.stdin:
                    todo = _feed(key.fd, todo)
                    closed = not todo
                else:
                    data = os.read(key.fd, _CHUNK)
                    room = cap - len(kept[key.fd])
                    kept[key.fd] += data[:room]
                    cut = cut or len(data) > room
                    closed = not data
                if closed:
                    selector.unregister(key.fileobj)
                    if key.fileobj is child.stdin:
                        child.stdin.close()
    try:
        child.wait(timeout=max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return bytes(out), bytes(err), True, cut
    return bytes(out), bytes(err), False, cut


def readable(of: int | HasFileno, seconds: float) -> bool:
    """True as soon as there is something to read, or its end; False after that time. Unlike select(2) it
    takes descriptors beyond 1,023, which a server or a long list of sandboxes comes to.
    """
    waiting = select.poll()
    waiting.register(of, select.POLLIN)
    return bool(waiting.poll(max(0.0, seconds) * 1000))


def _feed(descriptor: int, todo: memoryview) -> memoryview:
    """Write what fits; a reader that went away needs no more."""
    try:
        return todo[os.write(descriptor, todo[:_CHUNK]) :]
    except BlockingIOError:
        return todo
    except BrokenPipeError:
        return todo[:0]
