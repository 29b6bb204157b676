"""Limited children that are forked from a template (child_template.py) instead of started anew.

One template serves this process, whichever thread asks, and ends with it. Where there can be none, or where
it is lost, the answer is None and the caller starts a child of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Final

import msgspec

from gate import process
from gate.languages.child_template import ChildRequest

_PATIENCE: Final = 10.0
"""Seconds for the end of a child that was killed to be told."""
_LOST: Final = -1000
"""No exit code: the template or its keeper is gone."""


def run(
    module: str, *, stdin: bytes, deadline: float, cap: int, limits: Mapping[int, int]
) -> process.Done | None:
    """As process.run, for the child's program with ``module`` imported; None where there is no template."""
    start = time.monotonic()
    child = _TEMPLATE.fork(module, limits)
    if child is None:
        return None
    try:
        out, err, timed_out, cut = process.exchange(child, stdin, start + deadline, cap)
    finally:
        code = child.end()
    if code == _LOST:
        _TEMPLATE.close()
        return None
    return process.Done(
        argv=("gate.languages.child_worker", module),
        code=code,
        stdout=out,
        stderr=err,
        seconds=time.monotonic() - start,
        timed_out=timed_out,
        truncated=cut,
    )


def prepare(modules: Sequence[str]) -> None:
    """Have the template import these now, beside what this process does next. Nothing where there is none."""
    _TEMPLATE.prepare(modules)


class _Forked:
    """A child of the template's: our ends of its standard streams, and the socket that tells of its end."""

    def __init__(self, streams: tuple[int, int, int], told: socket.socket) -> None:
        self.stdin: IO[bytes] | None = os.fdopen(streams[0], "wb", buffering=0)
        self.stdout: IO[bytes] | None = os.fdopen(streams[1], "rb", buffering=0)
        self.stderr: IO[bytes] | None = os.fdopen(streams[2], "rb", buffering=0)
        self._told = told
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, negative for a signal."""
        if self._code is None:
            self._told.settimeout(timeout)
            try:
                data = self._told.recv(16)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("a limited child", timeout or 0.0) from None
            except OSError:
                data = b""
            self._code = int(data) if data else _LOST
        return self._code

    def end(self) -> int:
        """Kill it if it still runs, and close everything."""
        with contextlib.suppress(OSError):
            self._told.shutdown(socket.SHUT_WR)
        try:
            return self.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return _LOST
        finally:
            self._told.close()
            for pipe in (self.stdin, self.stdout, self.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()


class _Template:
    """The process that forks; started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(self, module: str, limits: Mapping[int, int]) -> _Forked | None:
        """A new child, or None where there is no template."""
        pipes = [os.pipe(), os.pipe(), os.pipe()]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        (stdin, to_child), (from_child, stdout), (errors, stderr) = pipes
        message = msgspec.json.encode(ChildRequest(module=module, limits=dict(limits)))
        try:
            with self._lock:
                control = self._open()
                socket.send_fds(control, [message], [stdin, stdout, stderr, theirs.fileno()])
        except OSError:
            self.close()
            ours.close()
            for end in (to_child, from_child, errors):
                os.close(end)
            return None
        finally:
            theirs.close()
            for end in (stdin, stdout, stderr):
                os.close(end)
        return _Forked((to_child, from_child, errors), ours)

    def prepare(self, modules: Sequence[str]) -> None:
        """Ask for imports and wait for none of them."""
        with contextlib.suppress(OSError), self._lock:
            control = self._open()
            for module in modules:
                control.send(msgspec.json.encode(ChildRequest(module=module, limits={})))

    def _open(self) -> socket.socket:
        if self._control is not None:
            return self._control
        if not hasattr(os, "pidfd_open"):
            raise OSError("this system tells no end of a process by a descriptor")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-m", "gate.languages.child_template", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=process.clean_environment(),
                start_new_session=True,
            )
        self._control = ours
        return ours

    def close(self) -> None:
        """End the template. Children that it forked end with those who wait for them."""
        with self._lock:
            child, control = self._child, self._control
            self._child = self._control = None
        if control is not None:
            control.close()
        if child is not None:
            process.kill_group(child)


_TEMPLATE: Final = _Template()
atexit.register(_TEMPLATE.close)
