"""The host's part of a network that comes in packets: from a launcher to the sinkhole, and back.

Packets are the code's, and nothing here looks into one: they are counted, cut at the sizes before them, and
handed on. Towards the launcher a network's manners hold: what it does not take in is lost.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import struct
import threading
from collections.abc import Callable
from typing import Final

from gate.errors import InconclusiveError

_SIZE: Final = struct.Struct(">H")
_MOST_OWED: Final = 4 << 20
_PART: Final = 48 << 10
"""Bytes of packets in one order: a local socket carries them whole."""


class Tunnel:
    """One sandbox's packets. ``send`` takes some of them, each with its size before it, to the sinkhole; it
    may raise InconclusiveError. ``arrived`` may be called from another thread, the rest is the
    conversation's.
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._owed = bytearray()
        self._lock = threading.Lock()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def join(self, selector: selectors.BaseSelector) -> None:
        """From now on the conversation is woken when packets arrive."""
        selector.register(self._wake, selectors.EVENT_READ, self._woken)

    @property
    def has_pending(self) -> bool:
        """Something waits to be sent to the launcher."""
        return bool(self._owed)

    def take(self) -> bytes:
        """All that waits to be sent to the launcher; empty: nothing."""
        with self._lock:
            out, self._owed = bytes(self._owed), bytearray()
        return out

    def arrived(self, packets: bytes) -> None:
        """The sinkhole has packets for the sandbox."""
        with self._lock:
            if self._wake >= 0 and len(self._owed) + len(packets) <= _MOST_OWED:
                self._owed += packets
                os.eventfd_write(self._wake, 1)

    def feed(self, payload: bytes) -> None:
        """The payload of a P frame. Raises ValueError for one that makes no sense."""
        begin = at = 0
        while at < len(payload):
            if len(payload) - at < _SIZE.size:
                raise ValueError("a P frame that makes no sense")
            (size,) = _SIZE.unpack_from(payload, at)
            end = at + _SIZE.size + size
            if not size or end > len(payload):
                raise ValueError("a P frame that makes no sense")
            if end - begin > _PART and at > begin:
                self._hand_on(payload[begin:at])
                begin = at
            at = end
        if at > begin:
            self._hand_on(payload[begin:at])

    def close(self) -> None:
        """The conversation is over."""
        with self._lock:
            wake, self._wake = self._wake, -1
            if wake >= 0:
                os.close(wake)

    def _hand_on(self, packets: bytes) -> None:
        with contextlib.suppress(
            InconclusiveError
        ):  # it is gone: its log lacks the last line, and that is told
            self._send(packets)

    def _woken(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._wake)
