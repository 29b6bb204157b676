"""A connection's bytes, plain or inside TLS, with what has been read and not yet used."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from typing import Union

CHUNK = 1 << 16


class Plain:
    """An accepted socket. ``first`` was read already and comes again first."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._back = b""
        self.received = 0

    def push_back(self, data: bytes) -> None:
        """Give bytes back; they are read next."""
        self._back = data + self._back

    async def recv(self, seconds: float) -> bytes | None:
        """What comes next; empty at the end, None when nothing came in time. Raises OSError."""
        if self._back:
            data, self._back = self._back, b""
            return data
        try:
            data = await asyncio.wait_for(self._loop.sock_recv(self._sock, CHUNK), seconds)
        except TimeoutError:
            return None
        self.received += len(data)
        return data

    async def send(self, data: bytes) -> None:
        """All of it, within two seconds (a peer that reads nothing must not hold us)."""
        with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
            await asyncio.wait_for(self._loop.sock_sendall(self._sock, data), 2)


class Secured:
    """TLS over another stream, as the server."""

    def __init__(self, below: Plain | Secured, context: ssl.SSLContext) -> None:
        self._below = below
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=True)
        self._back = b""

    async def handshake(self, seconds: float) -> None:
        """Raises ssl.SSLError (the client's refusal among them), OSError, EOFError."""
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush()
                await self._fill(seconds)
            else:
                await self._flush()
                return

    def push_back(self, data: bytes) -> None:
        """Give bytes back; they are read next."""
        self._back = data + self._back

    async def recv(self, seconds: float) -> bytes | None:
        """As Plain.recv; an alert of the client's is the end."""
        if self._back:
            again, self._back = self._back, b""
            return again
        while True:
            try:
                return self._tls.read(CHUNK)
            except ssl.SSLWantReadError:
                await self._flush()
                raw = await self._below.recv(seconds)
                if not raw:
                    return raw
                self._in.write(raw)
            except ssl.SSLError:
                return b""

    async def send(self, data: bytes) -> None:
        """All of it."""
        with contextlib.suppress(ssl.SSLError):
            self._tls.write(data)
        await self._flush()

    async def _flush(self) -> None:
        if self._out.pending:
            await self._below.send(self._out.read())

    async def _fill(self, seconds: float) -> None:
        data = await self._below.recv(seconds)
        if not data:
            raise EOFError
        self._in.write(data)


Stream = Union[Plain, Secured]
