"""One sinkhole program for a session, and in it a place with its log for every sandbox."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import threading
from pathlib import Path
from typing import Final, Self

from gate.errors import InconclusiveError
from gate.sandbox.frames import FrameRouter, write_all
from gate.sandbox.sinkhole_host.link import SinkholeProcess
from gate.sandbox.sinkhole_host.tunnel import Tunnel

_READY_SECONDS: Final = 20.0
_ADVICE: Final = (
    'The kernel needs nft_tproxy. sandbox.network = "none" runs without a network that answers: less is seen.'
)


class SinkholeSlot:
    """One sandbox's slot in the sinkhole: its token and its log on the host."""

    def __init__(self, log: Path) -> None:
        self.token = secrets.token_hex(16)
        self.log = log
        self.ready = threading.Event()
        self.ended = threading.Event()
        self.why = ""
        self.tunnel: Tunnel | None = None
        self._fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)

    def take(self, kind: bytes, payload: bytes) -> None:
        """One frame: a piece of the log, packets for the tunnel, or that the slot is ready or at its end."""
        if kind == b"t":
            write_all(self._fd, payload)
        elif kind == b"p" and self.tunnel is not None:
            self.tunnel.arrived(payload)
        elif kind == b"r":
            self.ready.set()
        elif kind == b"e":
            self.why = payload.partition(b" ")[2].decode(errors="replace")[:300]
            self.ended.set()
            self.ready.set()

    def close(self) -> None:
        """Let go of the log file."""
        os.close(self._fd)


class Sinkhole:
    """A running sinkhole program. Use as a context manager."""

    def __init__(self, line: SinkholeProcess, folder: Path, authority: bytes) -> None:
        self._line = line
        self._folder = folder
        self._slots: FrameRouter[SinkholeSlot] = FrameRouter()
        self._ordering = threading.Lock()
        self.dead = threading.Event()
        threading.Thread(target=self._read, name="sinkhole", daemon=True).start()
        self._order(b"ca " + base64.b64encode(authority) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dead.set()
        self._line.close()

    def serve(self, pid: int) -> SinkholeSlot:
        """A place for the network namespace of that process, ready. Raises InconclusiveError."""
        return self._begin(f"sink {{}} {pid}\n")

    def tunnelled(self) -> SinkholeSlot:
        """A place for packets, ready; they go through its ``tunnel``. Raises InconclusiveError."""
        return self._begin("tunnel {}\n", packets=True)

    def _begin(self, order: str, *, packets: bool = False) -> SinkholeSlot:
        place = SinkholeSlot(self._folder / f"{secrets.token_hex(8)}.net.jsonl")
        if packets:
            head = f"packets {place.token} ".encode()
            place.tunnel = Tunnel(lambda some: self._order(head + base64.b64encode(some) + b"\n"))
        self._slots.add(place)
        self._order(order.format(place.token).encode())
        place.ready.wait(_READY_SECONDS)
        if place.ended.is_set() or not place.ready.is_set():
            why = place.why or self._line.stderr_tail() or "it said nothing"
            self.forget(place)
            raise InconclusiveError(f"no sinkhole for the sandbox: {why}", advice=_ADVICE)
        return place

    def fail(self, place: SinkholeSlot, failures: int) -> None:
        """From now on so many requests to each destination fail. Raises InconclusiveError."""
        self._order(f"fail {place.token} {failures}\n".encode())

    def finish(self, place: SinkholeSlot, deadline: float) -> None:
        """The sandbox is dead: wait (seconds) for the last line of its log."""
        with contextlib.suppress(InconclusiveError):
            self._order(f"stop {place.token}\n".encode())
            place.ended.wait(deadline)

    def forget(self, place: SinkholeSlot) -> None:
        """Nothing more is expected; the log file stays."""
        with contextlib.suppress(InconclusiveError):
            self._order(f"stop {place.token}\n".encode())
        self._slots.remove(place)
        if place.tunnel is not None:
            place.tunnel.close()

    def _order(self, line: bytes) -> None:
        with self._ordering:
            if self.dead.is_set():
                raise InconclusiveError(f"the sinkhole is gone: {self._line.stderr_tail()}", advice=_ADVICE)
            try:
                self._line.send(line)
            except OSError as error:
                raise InconclusiveError(f"the sinkhole cannot be reached: {error}", advice=_ADVICE) from error

    def _read(self) -> None:
        try:
            while (data := self._line.recv()) is not None:
                self._slots.route(data)
        except (OSError, ValueError):
            pass
        finally:
            self.dead.set()
            self._slots.end()
