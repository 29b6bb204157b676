"""One sinkhole program for a session, and in it a place with its log for every sandbox."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import threading
from pathlib import Path
from typing import Final, Self

from gate.errors import CouldNotLook
from gate.sandbox.observer.many import HEAD
from gate.sandbox.sinkhole_lines import Line
from gate.sandbox.tunnel import Tunnel

_READY_SECONDS: Final = 20.0
_MAX_FRAME: Final = 1 << 20
_ADVICE: Final = (
    'The kernel needs nft_tproxy. sandbox.network = "none" runs without a network that answers: less is seen.'
)


class Sunk:
    """One sandbox's place at the sinkhole: its log outside."""

    def __init__(self, log: Path) -> None:
        self.token = secrets.token_hex(16)
        self.log = log
        self.ready = threading.Event()
        self.ended = threading.Event()
        self.why = ""
        self.tunnel: Tunnel | None = None
        self.fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)


class Sinkhole:
    """A running sinkhole program. Use as a context manager."""

    def __init__(self, line: Line, folder: Path, authority: bytes) -> None:
        self._line = line
        self._folder = folder
        self._places: dict[bytes, Sunk] = {}
        self._lock = threading.Lock()
        self.dead = threading.Event()
        threading.Thread(target=self._read, name="sinkhole", daemon=True).start()
        self._order(b"ca " + base64.b64encode(authority) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dead.set()
        self._line.close()

    def serve(self, pid: int) -> Sunk:
        """A place for the network namespace of that process, ready. Raises CouldNotLook."""
        return self._begin(f"sink {{}} {pid}\n")

    def tunnelled(self) -> Sunk:
        """A place for packets, ready; they go through its ``tunnel``. Raises CouldNotLook."""
        return self._begin("tunnel {}\n", packets=True)

    def _begin(self, order: str, *, packets: bool = False) -> Sunk:
        place = Sunk(self._folder / f"{secrets.token_hex(8)}.net.jsonl")
        if packets:
            head = f"packets {place.token} ".encode()
            place.tunnel = Tunnel(lambda some: self._order(head + base64.b64encode(some) + b"\n"))
        with self._lock:
            self._places[bytes.fromhex(place.token)] = place
        self._order(order.format(place.token).encode())
        place.ready.wait(_READY_SECONDS)
        if place.ended.is_set() or not place.ready.is_set():
            why = place.why or self._line.muttered() or "it said nothing"
            self.forget(place)
            raise CouldNotLook(f"no sinkhole for the sandbox: {why}", advice=_ADVICE)
        return place

    def finish(self, place: Sunk, deadline: float) -> None:
        """The sandbox is dead: wait (seconds) for the last line of its log."""
        with contextlib.suppress(CouldNotLook):
            self._order(f"stop {place.token}\n".encode())
            place.ended.wait(deadline)

    def forget(self, place: Sunk) -> None:
        """Nothing more is expected; the log file stays."""
        with contextlib.suppress(CouldNotLook):
            self._order(f"stop {place.token}\n".encode())
        with self._lock:
            if self._places.pop(bytes.fromhex(place.token), None) is not None:
                os.close(place.fd)
        if place.tunnel is not None:
            place.tunnel.close()

    def _order(self, line: bytes) -> None:
        with self._lock:
            if self.dead.is_set():
                raise CouldNotLook(f"the sinkhole is gone: {self._line.muttered()}", advice=_ADVICE)
            try:
                self._line.send(line)
            except OSError as error:
                raise CouldNotLook(f"the sinkhole cannot be reached: {error}", advice=_ADVICE) from error

    def _read(self) -> None:
        rest = b""
        try:
            while (data := self._line.recv()) is not None:
                rest = self._frames(rest + data)
        except (OSError, ValueError):
            pass
        finally:
            self.dead.set()
            with self._lock:
                for place in self._places.values():
                    place.ended.set()
                    place.ready.set()

    def _frames(self, data: bytes) -> bytes:
        """Act on whole frames; return what is left over."""
        at = 0
        while len(data) - at >= HEAD.size:
            token, kind, length = HEAD.unpack_from(data, at)
            if length > _MAX_FRAME:
                raise ValueError("the sinkhole sent a frame too long")
            end = at + HEAD.size + length
            if len(data) < end:
                break
            with self._lock:
                place = self._places.get(token)
                if place is not None:
                    _take(place, kind, data[at + HEAD.size : end])
            at = end
        return data[at:]


def _take(place: Sunk, kind: bytes, payload: bytes) -> None:
    if kind == b"t":
        left = memoryview(payload)
        while left:
            left = left[os.write(place.fd, left) :]
    elif kind == b"p" and place.tunnel is not None:
        place.tunnel.arrived(payload)
    elif kind == b"r":
        place.ready.set()
    elif kind == b"e":
        place.why = payload.partition(b" ")[2].decode(errors="replace")[:300]
        place.ended.set()
        place.ready.set()
