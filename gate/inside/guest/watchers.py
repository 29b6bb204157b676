"""Who watches inside the guest, each in a process of its own: the supervisor of the code's calls (root, which
the code is not), and the simulated network (nobody, who is another user than the code).
"""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import sys
from typing import Any


class Watchers:
    """Imported before anything is asked for, so that a stored machine has it done."""

    def __init__(self, *, network: bool) -> None:
        sys.path[:0] = ["/boot", *(["/boot/disk-b"] if network else [])]
        from observer import handover, supervisor  # type: ignore[import-not-found, unused-ignore]

        self._handover: Any = handover
        self._supervisor: Any = supervisor
        self._sink: Any = None
        self._sockets: Any = None
        if network:
            from sinkhole import __main__ as sink  # type: ignore[import-not-found, unused-ignore]

            self._sink = sink
            self._sockets = sink.server.Sockets()

    def observe(self, link: socket.socket, trace: int, settings: dict[str, Any]) -> int:
        """The child that supervises the code; its pid."""
        child = os.fork()
        if child:
            return child
        code = 2
        try:
            self._handover.stop_on_term()
            listener = self._handover.receive_listener(link, bytes.fromhex(settings["token"]))
            link.settimeout(None)
            watch = self._supervisor.Supervisor(
                listener, trace, link=link, events=settings["events"], canaries=settings["canaries"]
            )
            code = 0 if watch.run(None) == "exited" else 1
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.write(2, ("observer: %s\n" % error).encode())
        os._exit(code)

    def sinkhole(self, log: int, authority: str, patience: float) -> tuple[int, int]:
        """The child that is everybody the code talks to: its pid, and a descriptor that ends it when closed.

        ``authority``: key and certificate, base64; ``patience``: by how much longer than usual it waits for
        a client. Returns when it serves. Raises OSError.
        """
        for name in ("_FIRST", "_IDLE"):
            setattr(self._sink.server, name, patience * getattr(self._sink.server, name))
        stop, control = os.pipe()
        ready, tell = os.pipe()
        child = os.fork()
        if child == 0:
            self._become_sinkhole(log, stop, tell, authority, (control, ready))
        for fd in (stop, tell):
            os.close(fd)
        for sock in (*self._sockets.tcp, self._sockets.udp, *self._sockets.local):
            sock.close()
        self._sockets.raw4.close()
        self._sockets.raw6.close()
        said = os.read(ready, 500)
        os.close(ready)
        if said != b"r":
            raise OSError("no simulated network: " + (said.decode("utf-8", "replace") or "it ended"))
        return child, control

    def _become_sinkhole(
        self, log: int, stop: int, tell: int, authority: str, others: tuple[int, ...]
    ) -> None:
        """Never returns. Gives every privilege up before the first byte of anybody's is read."""
        code = 2
        try:
            for fd in others:
                os.close(fd)
            signer = self._sink.tls.Authority(base64.b64decode(authority))
            signer.context("sinkhole.invalid")
            self._sink._give_up()
            os.write(tell, b"r")
            os.close(tell)
            self._sink.server.run(log, stop, self._sockets, signer)
            code = 0
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.write(tell, ("%s: %s" % (type(error).__name__, error)).encode()[:500])
        os._exit(code)
