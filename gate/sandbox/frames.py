"""Frames of the long-lived helpers of a session (observers, the sinkhole): token, kind, payload.

The senders run where this package is not (gate/inside/observer/many.py, sinks.py,
gate/inside/sinkhole/__main__.py) and hold the same head.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Final, Generic, Protocol, TypeVar

from gate.inside.observer.many import HEAD

LONGEST: Final = 1 << 20
"""Bytes of a payload; more is no frame of ours."""

Frame = tuple[bytes, bytes, bytes]
"""The 16 bytes of a sandbox's token, one byte that says what it is, the payload."""


class FrameReader:
    """Frames out of a stream that comes in pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are whole now. Raises ValueError at one that is too long, after those before it."""
        data, at = self._rest + data, 0
        while len(data) - at >= HEAD.size:
            token, kind, length = HEAD.unpack_from(data, at)
            if length > LONGEST:
                raise ValueError("a frame too long")
            end = at + HEAD.size + length
            if len(data) < end:
                break
            yield token, kind, data[at + HEAD.size : end]
            at = end
        self._rest = data[at:]


class Recipient(Protocol):
    """Who the frames with one token are for. ``ended``: no more will come, and nobody waits for ``ready``."""

    token: str
    ready: threading.Event
    ended: threading.Event

    def take(self, kind: bytes, payload: bytes) -> None:
        """One frame. Raises OSError, ValueError: nobody gets any more."""

    def close(self) -> None:
        """Let go of its file."""


RecipientT = TypeVar("RecipientT", bound=Recipient)


class FrameRouter(Generic[RecipientT]):
    """Gives the frames of one stream to whom they are for. Safe to use from several threads."""

    def __init__(self) -> None:
        self._frames = FrameReader()
        self._recipients: dict[bytes, RecipientT] = {}
        self._lock = threading.Lock()

    def add(self, recipient: RecipientT) -> None:
        """From now on, frames with this token are its own."""
        with self._lock:
            self._recipients[bytes.fromhex(recipient.token)] = recipient

    def remove(self, recipient: RecipientT) -> bool:
        """Close it, and let its frames fall. False when that was done before."""
        with self._lock:
            known = self._recipients.pop(bytes.fromhex(recipient.token), None)
            if known is not None:
                known.close()
        return known is not None

    def route(self, data: bytes) -> None:
        """The next bytes of the stream. Raises ValueError for a frame too long, and what ``take`` raises."""
        for token, kind, payload in self._frames.feed(data):
            with self._lock:
                if recipient := self._recipients.get(token):
                    recipient.take(kind, payload)

    def end(self) -> None:
        """The stream ended: nobody waits any longer."""
        with self._lock:
            for recipient in self._recipients.values():
                recipient.ended.set()
                recipient.ready.set()


def write_all(fd: int, data: bytes) -> None:
    """Write everything, however many calls it takes. Raises OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
