"""The one way out that set-up has: a forward proxy that knows which places it may connect to (threat IS-5).

It speaks CONNECT, and GET without TLS to places that the machine's own configuration names so. A host is
brought into its one canonical form, must be on the list, and is resolved here; an address that is not public
ends the attempt (but for own places), and the connection goes to the very address that was checked, so a name
cannot mean something else a moment later. After CONNECT the first bytes must be a TLS hello for that name.
What is inside TLS is between the installer, which checks the certificate, and the index.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from gate.inside.sinkhole import client_hello
from gate.late import late_module
from gate.model.run import Refused
from gate.sandbox.egress import upstream as egress_upstream
from gate.sandbox.egress.rules import (
    Allowed,
    EgressRequest,
    RefusedError,
    canonical,
    metadata,
    parse,
    public,
    requested_host,
)

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = late_module("asyncio")

__all__ = ["Allowed", "Proxy", "RefusedError", "canonical", "public", "resolve"]

_HEAD_BYTES: Final = 8192
_SECONDS: Final = 10.0
_IDLE: Final = 60.0
_CHUNK: Final = 1 << 16
_AT_ONCE: Final = 64
NOT_PUBLIC: Final = "the name leads to an address that is not public"
MOST: Final = 1_000
"""Refusals kept; what comes after is a repetition of something."""

Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """Every address of a name, by this machine's own resolver. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Proxy:
    """A running proxy. Use as a context manager.

    ``dial()`` gives a connection to it; nobody else on the machine can make one, unless ``listen`` asks for a
    port of 127.0.0.1. ``most``: bytes it fetches in all, None: no limit. ``upstream``: the HTTP proxies of
    this machine, by scheme (egress_upstream.py).

    What was not let through is in ``refusals``, allowed places that could not be reached in ``failures``.
    """

    def __init__(
        self,
        allowed: Allowed,
        *,
        resolver: Resolve = resolve,
        listen: bool = False,
        most: int | None = None,
        upstream: egress_upstream.Upstreams | None = None,
    ) -> None:
        self._allowed = allowed
        self._resolve = resolver
        self._most = most
        self._upstream = upstream or egress_upstream.Upstreams({})
        self._listener = socket.create_server(("127.0.0.1", 0)) if listen else None
        self.port: int = self._listener.getsockname()[1] if self._listener else 0
        self.refusals: list[Refused] = []
        self.failures: list[str] = []
        self.served: list[str] = []
        self.fetched = 0
        self.too_much = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="egress", daemon=True)
        self._busy = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)

    def dial(self) -> socket.socket:
        """A new connection to this proxy, from any thread."""
        ours, theirs = socket.socketpair()
        self._loop.call_soon_threadsafe(self._begin, theirs)
        return ours

    def _begin(self, link: socket.socket) -> None:
        task = self._loop.create_task(self._link(link))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _link(self, link: socket.socket) -> None:
        await self._client(*await asyncio.open_unix_connection(sock=link, limit=_HEAD_BYTES))

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = None
        if self._listener is not None:
            server = self._loop.run_until_complete(
                asyncio.start_server(self._client, sock=self._listener, limit=_HEAD_BYTES)
            )
        try:
            self._loop.run_forever()
        finally:
            if server is not None:
                server.close()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = "?"
        try:
            if self._busy >= _AT_ONCE:
                raise RefusedError("too many connections at once")
            self._busy += 1
            try:
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _SECONDS)
                place = requested_host(head)
                await self._serve(reader, writer, parse(head, self._allowed))
            finally:
                self._busy -= 1
        except RefusedError as error:
            self._refuse(place, str(error))
            with contextlib.suppress(OSError, RuntimeError):
                writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        except asyncio.LimitOverrunError:
            self._refuse(place, "a request that is too long")
        except (OSError, EOFError, TimeoutError):
            pass  # the client went away; where an allowed place did, _serve has told
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    def _refuse(self, place: str, why: str) -> None:
        if len(self.refusals) < MOST:
            self.refusals.append(Refused(asked=place[:300], why=why))

    def _fail(self, request: EgressRequest, error: Exception) -> None:
        if len(self.failures) < MOST:
            why = str(error) or type(error).__name__
            self.failures.append(f"{request.host}:{request.port}: {why}"[:300])

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: EgressRequest
    ) -> None:
        host, port = request.host, request.port
        inside = self._allowed.check(host, port, plain=request.plain)
        by = self._upstream.to(host, port, plain=request.plain)
        try:
            addresses = await asyncio.wait_for(self._resolve(host, port), _SECONDS)
        except (OSError, TimeoutError) as error:
            if by is None:
                self._fail(request, error)
                raise
            addresses = []  # only the upstream proxy knows that name
        right = all(not metadata(a) if inside else public(a) for a in addresses)
        if not right or (not addresses and by is None):
            raise RefusedError(NOT_PUBLIC)
        hello = b"" if request.plain else await self._hello(reader, writer, request)
        try:
            if by is not None:
                there = await asyncio.wait_for(by.connect(request), _SECONDS)
            else:
                there = await self._connect(addresses, port)
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError) as error:
            self._fail(request, error)
            raise OSError(str(error)) from error
        self.served.append(host)
        try:
            sign = by.authorization if by is not None else ""
            whole = by is not None
            there[1].write(hello or egress_upstream.get(request, whole=whole, authorization=sign))
            if request.plain:  # one request, one answer: nothing else that the client says goes out
                await self._pass(there[0], writer, counted=True)
            else:
                await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer, counted=True))
        finally:
            there[1].close()

    async def _hello(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: EgressRequest
    ) -> bytes:
        """Say yes to CONNECT and read the TLS hello, which must be for the same host."""
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        hello = b""
        wanted: str | None = None
        while wanted is None and len(hello) < _CHUNK:
            more = await asyncio.wait_for(reader.read(_CHUNK), _SECONDS)
            hello += more
            if not more and not hello:
                raise EOFError  # a client that changed its mind asks for nothing
            if not more or not client_hello.looks_like_tls(
                hello[:3].ljust(3, b"\x03") if len(hello) < 3 else hello
            ):
                raise RefusedError("what follows is not TLS")
            wanted = client_hello.server_name(hello)
        named = "" if ":" in request.host or request.host.replace(".", "").isdecimal() else request.host
        if wanted is None or wanted.removesuffix(".") != named:
            raise RefusedError("the TLS server name is another one")
        return hello

    async def _connect(
        self, addresses: list[str], port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """To an address that was checked, never to the name again."""
        last: OSError = OSError("no address")
        for address in addresses[:4]:
            try:
                return await asyncio.wait_for(asyncio.open_connection(address, port), _SECONDS)
            except (OSError, TimeoutError) as error:
                last = OSError(str(error) or type(error).__name__)
        raise last

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, counted: bool = False
    ) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            while data := await asyncio.wait_for(reader.read(_CHUNK), _IDLE):
                if counted:
                    self.fetched += len(data)
                    self.too_much = self.too_much or (self._most is not None and self.fetched > self._most)
                if self.too_much:
                    break
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()
