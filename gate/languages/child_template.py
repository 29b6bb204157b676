"""A process that has imported gate's readers, and forks a limited child from them when asked.

``python -I -m gate.languages.child_template FD`` (warm_child.py starts it). Starting Python and importing a
scanner costs more processor time than reading a small file; a fork costs almost none of it. What is asked
for comes over the socket FD as one message: the module to import, the resource limits, and four descriptors:
the child's standard streams, and a socket over which its exit status is told. That socket's end ends the
child. A message without descriptors asks for the import alone. The template itself never sees a text of the
change, so every child begins as clean as a new process.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import resource
import select
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from typing import Final

import msgspec

from gate.languages import child_worker

MESSAGE: Final = 4096
"""Bytes that a request has at most."""
_PREPARED: Final[set[str]] = set()


class ChildRequest(msgspec.Struct, forbid_unknown_fields=True):
    """``limits`` by number of the resource. ``module`` is imported before the fork, and kept."""

    module: str
    limits: dict[int, int]


def main() -> int:
    """Fork one child for each message, until the other end is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel takes keepers away when they have ended
    with socket.socket(fileno=int(sys.argv[1])) as control:
        while True:
            data, descriptors, _, _ = socket.recv_fds(control, MESSAGE, 4)
            if not data:
                return 0
            request = msgspec.json.decode(data, type=ChildRequest)
            _prepare(request.module)
            if not descriptors:
                continue
            gc.freeze()  # a collection in a child would copy every page
            if os.fork() == 0:
                control.close()
                os._exit(_keep(descriptors, request.limits))
            for descriptor in descriptors:
                os.close(descriptor)


def _prepare(module: str) -> None:
    """Import it, and let it read its own tables. What goes wrong is told by the child, which tries again."""
    if module not in _PREPARED:
        _PREPARED.add(module)
        with contextlib.suppress(Exception):
            getattr(importlib.import_module(module), "prepare", int)()


def _keep(descriptors: list[int], limits: Mapping[int, int]) -> int:
    """Fork the child and tell how it ended; it does not outlive the interest in it."""
    *streams, told = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        os.close(told)
        os._exit(_serve(streams, limits))
    for descriptor in streams:
        os.close(descriptor)
    ended = os.pidfd_open(child)
    waiting = select.poll()
    for descriptor in (ended, told):
        waiting.register(descriptor, select.POLLIN)
    if ended not in dict(waiting.poll()):
        _kill(child)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    _kill(child)  # and what it may have started
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):
        os.write(told, b"%d" % os.waitstatus_to_exitcode(status))
    return 0


def _kill(child: int) -> None:
    """``child`` is not yet reaped, so the number is still its own."""
    for end in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(child, signal.SIGKILL)


def _serve(streams: list[int], limits: Mapping[int, int]) -> int:
    os.setsid()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))
    try:
        return child_worker.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - as the interpreter itself does at the end of a program
        traceback.print_exc()
        return 1


if __name__ == "__main__":
    sys.exit(main())
