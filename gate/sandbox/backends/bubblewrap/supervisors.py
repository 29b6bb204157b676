"""The supervisor beside each sandbox: forked from a template that serves this process, or started alone.

A start of its own costs as much processor time as half of a short run (gate/inside/observer/template.py).
Where there can be no template, or where it is lost, a supervisor is a program of its own. What a template was
asked for and did not fork before it was lost is a supervisor that has ended: that run is no look.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Final, Protocol

from gate import process
from gate.inside.observer.template import LINK, MESSAGE
from gate.resources import inside_dir

_OBSERVER: Final = inside_dir() / "observer"
_PATIENCE: Final = 10.0
"""Seconds for the end of a supervisor that was killed to be told."""


class Supervisor(Protocol):
    """One that runs: as the user who runs gate, with no standard streams, in a session of its own."""

    def wait(self, timeout: float) -> object:
        """Raises subprocess.TimeoutExpired when it still runs then."""
        ...

    def end(self) -> None:
        """Kill it if it still runs, and let go of it. Never raises."""
        ...


def start(words: Sequence[str], link: socket.socket) -> Supervisor:
    """The program of gate/inside/observer with these arguments and ``link`` as its ``--fd``."""
    return _TEMPLATE.fork(["--fd", LINK, *words], link) or _Started(words, link)


class _Started:
    """A program of its own."""

    def __init__(self, words: Sequence[str], link: socket.socket) -> None:
        own = [sys.executable, "-I", str(_OBSERVER), "--fd", str(link.fileno())]
        self._child = _popen([*own, *words], link.fileno())

    def wait(self, timeout: float) -> object:
        return self._child.wait(timeout)

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._child.kill()
        self._child.wait()


class _Forked:
    """A child of the template's, by the socket that both it and we hold."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self._process = -1
        self._ended = False

    def wait(self, timeout: float) -> object:
        waiting = select.poll()
        waiting.register(self._told, select.POLLIN)
        while not self._ended:
            if not waiting.poll(timeout * 1000):
                raise subprocess.TimeoutExpired("a supervisor", timeout)
            self._hear()
        return None

    def end(self) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            while not self._ended and self._process < 0:  # the first that is told
                self._told.settimeout(_PATIENCE)
                self._hear()
            if not self._ended:
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
            self.wait(_PATIENCE)
        self._told.close()
        if self._process >= 0:
            os.close(self._process)
            self._process = -1

    def _hear(self) -> None:
        """Its process, or that it has ended."""
        data, descriptors, _, _ = socket.recv_fds(self._told, 1, 1)
        if descriptors:
            self._process = descriptors[0]
        self._ended = not data


class _Template:
    """The process that forks; started when it is first needed, ended with this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(self, words: Sequence[str], link: socket.socket) -> Supervisor | None:
        """None where there is no template, or more is asked than a message holds."""
        message = json.dumps(words).encode()
        if len(message) > MESSAGE or not hasattr(os, "pidfd_open"):
            return None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs, self._lock:
                socket.send_fds(self._open(), [message], [link.fileno(), theirs.fileno()])
        except OSError:
            ours.close()
            self.close()
            return None
        return _Forked(ours)

    def _open(self) -> socket.socket:
        if self._control is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                program = [sys.executable, "-I", str(_OBSERVER / "template.py"), str(theirs.fileno())]
                self._child = _popen(program, theirs.fileno())
            self._control = ours
        return self._control

    def forget(self) -> None:
        """In a fork of this process: the template is the other's, and ends with that."""
        self._lock = threading.Lock()
        self._child = self._control = None

    def close(self) -> None:
        """End the template; what it forked ends with its sandbox."""
        with self._lock:
            child, control = self._child, self._control
            self._child = self._control = None
        if control is not None:
            control.close()
        if child is not None:
            child.kill()
            child.wait()


def _popen(words: Sequence[str], descriptor: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        pass_fds=(descriptor,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=process.clean_environment(),
        cwd="/",
        start_new_session=True,
    )


_TEMPLATE: Final = _Template()
atexit.register(_TEMPLATE.close)
os.register_at_fork(after_in_child=_TEMPLATE.forget)
