"""How a supervisor comes to its listener, and how it is told to stop. Standard library only."""

from __future__ import annotations

import signal
import socket


class StoppedError(Exception):
    """Told to stop (SIGTERM)."""


def receive_listener(link: socket.socket, token: bytes) -> int:
    """Take the listener from the launcher: the token, then the descriptor (SCM_RIGHTS) with one byte ``L``.

    Answers ``K``. Raises ConnectionError when the other side is not our launcher.
    """
    got = b""
    while len(got) < len(token):
        part = link.recv(len(token) - len(got))
        if not part:
            raise ConnectionError("launcher left before it said who it is")
        got += part
    if got != token:
        raise ConnectionError("wrong token")
    data, fds, _, _ = socket.recv_fds(link, 1, 1)
    if data != b"L" or len(fds) != 1:
        raise ConnectionError("no listener came")
    link.sendall(b"K")
    return fds[0]


def stop_on_term() -> None:
    """SIGTERM and SIGINT end the trace with its summary."""

    def stop(_signo: int, _frame: object) -> None:
        raise StoppedError

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
