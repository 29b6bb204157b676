"""The host's end of the way out of a sandbox that installs: each connection made inside gets a socket here.

The launcher hands bytes on over its own stdin and stdout (docs/launcher-protocol.md), so no network, mount or
port connects the sandbox with anything. What answers is whoever ``dial`` leads to
(gate/sandbox/egress/proxy.py).
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
from collections.abc import Callable
from typing import Final

_HEAD: Final = struct.Struct(">II")
_CHUNK: Final = 1 << 16
_AHEAD: Final = 1 << 20
"""Bytes waiting for the sandbox, above which nobody is asked for more."""
_OWED: Final = 1 << 20
"""Bytes from inside that the other end has not taken: who sends that much is no installer."""
_MOST: Final = 64


class Bridge:
    """Connections of one run. Everything happens in the thread that converses with the launcher."""

    def __init__(self, dial: Callable[[], socket.socket]) -> None:
        self._dial = dial
        self._links: dict[int, socket.socket] = {}
        self._owed: dict[int, bytearray] = {}
        self._out = bytearray()
        self._selector: selectors.BaseSelector | None = None

    def join(self, selector: selectors.BaseSelector) -> None:
        """From now on sockets are registered there, each with a callback as its data."""
        self._selector = selector

    @property
    def has_pending(self) -> bool:
        """Something waits to be sent to the launcher."""
        return bool(self._out)

    def take(self) -> bytes:
        """All that waits to be sent to the launcher; empty: nothing."""
        out, self._out = bytes(self._out), bytearray()
        self._watch()
        return out

    def feed(self, payload: bytes) -> None:
        """The payload of an N frame. Raises ValueError for one that makes no sense."""
        number, what, data = int.from_bytes(payload[:4], "big"), payload[4:5], payload[5:]
        if what == b"o":
            if number in self._links or len(self._links) >= _MOST:
                raise ValueError("the launcher opened a connection twice, or too many")
            link = self._dial()
            link.setblocking(False)
            self._links[number], self._owed[number] = link, bytearray()
            self._watch()
        elif what == b"c":
            self._drop(number)
        elif what == b"d":
            if number in self._links:  # else it ended here a moment ago
                self._owed[number] += data
                self._serve(number)
        else:
            raise ValueError("an N frame that makes no sense")

    def close(self) -> None:
        """End every connection."""
        for number in list(self._links):
            self._drop(number)

    def _serve(self, number: int) -> None:
        link = self._links.get(number)
        if link is None:
            return
        owed = self._owed[number]
        try:
            if owed:
                del owed[: link.send(owed)]
        except BlockingIOError:
            pass
        except OSError:
            self._end(number)
            return
        if len(owed) > _OWED:
            self._end(number)
            return
        try:
            if len(self._out) < _AHEAD:
                data = link.recv(_CHUNK)
                self._out += _HEAD.pack(number, len(data)) + data
                if not data:  # a length of 0 says so to the other side as well
                    self._drop(number)
                    return
        except BlockingIOError:
            pass
        except OSError:
            self._end(number)
            return
        self._watch()

    def _end(self, number: int) -> None:
        self._out += _HEAD.pack(number, 0)
        self._drop(number)

    def _drop(self, number: int) -> None:
        link = self._links.pop(number, None)
        self._owed.pop(number, None)
        if link is None:
            return
        if self._selector is not None:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(link)
        link.close()

    def _watch(self) -> None:
        """Listen for what each connection can do next."""
        if self._selector is None:
            return
        reading = selectors.EVENT_READ if len(self._out) < _AHEAD else 0
        known = self._selector.get_map()
        for number, link in self._links.items():
            wanted = reading | (selectors.EVENT_WRITE if self._owed[number] else 0)
            key = known.get(link)
            if key is None and wanted:
                self._selector.register(link, wanted, lambda n=number: self._serve(n))
            elif key is not None and not wanted:
                self._selector.unregister(link)
            elif key is not None and key.events != wanted:
                self._selector.modify(link, wanted, key.data)
