"""The engine's attached streams: one socket in, stdout and stderr out as tagged chunks on the same socket.

Format of the stream out: Docker Engine API, "Attach to a container", stream format: one byte
stream (1 stdout, 2 stderr), three zero bytes, u32 big-endian length, that many bytes.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import Any, Final

from docker import DockerClient

_HEAD: Final = struct.Struct(">BxxxI")


class Attached:
    """An attached container's stdin and output. Attach before the start, so that nothing is missed."""

    def __init__(self, client: DockerClient, container: str) -> None:
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._io: Any = client.api.attach_socket(container, params=params)
        self.socket: socket.socket = getattr(self._io, "_sock", self._io)
        self._left = 0
        self._stream = 0
        self._head = b""

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """What arrived next, as (stream, bytes) pieces; parts of chunks are passed on at once."""
        pieces = []
        while data:
            if not self._left:
                need = _HEAD.size - len(self._head)
                self._head, data = self._head + data[:need], data[need:]
                if len(self._head) < _HEAD.size:
                    break
                self._stream, self._left = _HEAD.unpack(self._head)
                self._head = b""
                continue
            piece, data = data[: self._left], data[self._left :]
            self._left -= len(piece)
            pieces.append((self._stream, piece))
        return pieces

    def close(self) -> None:
        """Let go of the socket; the container's stdin ends."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        # The response first: it flushes what it reads from, and Python 3.13 prints that it cannot any more.
        response = getattr(self._io, "_response", None)
        if response is not None:
            with contextlib.suppress(OSError, ValueError):
                response.close()
        with contextlib.suppress(OSError, ValueError):
            self._io.close()
        with contextlib.suppress(OSError):
            self.socket.close()
