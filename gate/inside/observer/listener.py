"""The kernel's end of the observation: takes one notification after the other, sends the answers.

Kernel interface: uapi linux/seccomp.h, seccomp_unotify(2). Standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import struct
from collections.abc import Callable, Iterator
from typing import Final

_RECV, _SEND, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
_NOTIFICATION: Final = struct.Struct("<QIIiIQ6Q")
_RESPONSE: Final = struct.Struct("<QqiI")
_SYNC_WAKE_UP = 1
_CONTINUE = 1
_TICK = 0.02
"""Seconds. So much later than with a poll we hear of the rest of the world."""


class _Tick(Exception):  # noqa: N818
    """No call came for a while."""


class Listener:
    """One seccomp listener. Belongs to the main thread: it uses the interval timer and SIGALRM."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.busy = False
        """Did the last row end while calls kept coming?"""
        self._receiving = False
        self._last = 0
        self._processors = os.sched_getaffinity(0)
        with contextlib.suppress(OSError):  # Linux 6.6: wakes the target on our own core
            fcntl.ioctl(fd, _SET_FLAGS, _SYNC_WAKE_UP)
        signal.signal(signal.SIGALRM, self._tick)

    def row(self, take: Callable[[tuple[int, ...]], bool]) -> Iterator[tuple[int, ...]]:
        """Notifications as they come, the fields of struct seccomp_notif each, its six arguments last;
        without those that ``take`` has answered itself.

        A poll would wake us on another core, with cold caches, while the caller waits; a receive that
        waits is handed the processor by the caller itself. So wait here as long as calls come one after
        another; the clock ends the row, for a look at whatever else happened. Raises OSError.
        """
        self.busy = False
        self._follow()
        signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        try:
            while not self.busy:
                raw = bytearray(_NOTIFICATION.size)
                try:
                    self._receiving = True
                    fcntl.ioctl(self.fd, _RECV, raw)
                    self._receiving = False
                except _Tick:
                    if not any(raw[:8]):  # else: the clock struck when we had one already
                        break
                except OSError as error:
                    self._receiving = False
                    if error.errno in (errno.ENOENT, errno.EINTR):  # the caller died meanwhile
                        break
                    raise
                found = _NOTIFICATION.unpack(raw)
                self._last = found[1]
                if not take(found):
                    yield found
        except _Tick:  # too late to matter
            pass
        finally:
            self._receiving = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            if not self.busy:
                self._run_on(self._processors)

    def answer(self, ident: int, value: int = 0, error: int = 0, *, go_on: bool = True) -> bool:
        """Let the call through (``go_on``), or end it with ``value`` or ``error`` (a positive errno).

        False: the caller died, the call never happened. True also means that the caller was waiting until
        now, so that what we read before was its own: what SECCOMP_IOCTL_NOTIF_ID_VALID would have told,
        without another call. Raises OSError.
        """
        response = _RESPONSE.pack(ident, value, -error, _CONTINUE if go_on else 0)
        while True:
            try:
                fcntl.ioctl(self.fd, _SEND, response)
            except OSError as problem:
                if problem.errno in (errno.ENOENT, errno.EINPROGRESS):
                    return False
                if problem.errno != errno.EINTR:  # our own clock
                    raise
            else:
                return True

    def _tick(self, _signo: int, _frame: object) -> None:
        if self._receiving:
            self._receiving = False
            raise _Tick
        self.busy = True

    def _follow(self) -> None:
        """Onto the processor of who called last: only one of us two ever runs."""
        try:
            with open(f"/proc/{self._last}/stat", "rb") as stat:
                processor = int(stat.read().rpartition(b")")[2].split()[36])  # field 39, see proc_pid_stat(5)
        except (OSError, ValueError, IndexError):
            return
        if processor in self._processors:
            self._run_on({processor})

    def _run_on(self, processors: set[int]) -> None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, processors)
