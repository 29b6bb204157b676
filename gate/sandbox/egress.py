"""The one way out that set-up has: a forward proxy that knows which hosts it may connect to (threat IS-5).

It speaks CONNECT only. A host is brought into its one canonical form, must be on the list, and is resolved
here; an address that is not a public one ends the attempt, and the connection goes to the very address that
was checked, so a name cannot mean something else a moment later. The first bytes must be a TLS hello for the
same name. What is inside TLS is between the installer, which checks the certificate, and the index.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import socket
import threading
import tomllib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from gate.errors import UsageError
from gate.model.behaviour import Behaviour, BehaviourKind
from gate.resources import rules_dir
from gate.sandbox.sinkhole import tls

_LABEL: Final = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)\Z")
_HEAD_BYTES: Final = 8192
_SECONDS: Final = 10.0
_IDLE: Final = 60.0
_CHUNK: Final = 1 << 16
_AT_ONCE: Final = 64
MOST: Final = 1_000
"""Refusals kept; more are counted in the last."""
_REQUEST: Final = re.compile(rb"CONNECT ([^ ]{1,512}) HTTP/1\.[01]\r\n")
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")

Resolve = Callable[[str, int], Awaitable[list[str]]]


class RefusedError(Exception):
    """An attempt that is not allowed; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """rules/egress.toml: canonical names (``*.`` in front: everything below), and ports."""

    hosts: frozenset[str]
    ports: frozenset[int]

    @classmethod
    def load(cls, path: Path | None = None) -> Allowed:
        """Read the rules. An empty list allows nothing. Raises UsageError."""
        path = path or rules_dir() / "egress.toml"
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            hosts, ports = table.pop("hosts"), table.pop("ports")
            if table.pop("version") != 1 or table:
                raise ValueError(f"unknown keys or version: {', '.join(table)}")
            return cls.of(hosts, ports)
        except (OSError, KeyError, TypeError, ValueError, RefusedError) as error:
            raise UsageError(
                f"{path.name}: {error}", advice="See rules/egress.toml of gate itself."
            ) from error

    @classmethod
    def of(cls, hosts: Iterable[str], ports: Iterable[int]) -> Allowed:
        """From plain values. Raises RefusedError for a name that is none."""
        names = frozenset(
            "*." + canonical(host[2:]) if host.startswith("*.") else canonical(host) for host in hosts
        )
        return cls(hosts=names, ports=frozenset(ports))

    def check(self, host: str, port: int) -> None:
        """Raises RefusedError unless this canonical host may be reached at this port."""
        below = ("*." + host.partition(".")[2], *_above(host.partition(".")[2]))
        if host not in self.hosts and not self.hosts.intersection(below):
            raise RefusedError("host is not on the list")
        if port not in self.ports:
            raise RefusedError("port is not on the list")


def _above(name: str) -> Iterable[str]:
    while name:
        name = name.partition(".")[2]
        yield "*." + name


def canonical(host: str) -> str:
    """The one form of a host name: ASCII letters, digits and hyphens, lower-case, no dot at the end.

    Raises RefusedError for everything else: addresses in any notation, NUL and control characters,
    underscores, names in other scripts (their ``xn--`` form is a name like any other).
    """
    if not host.isascii():
        raise RefusedError("name is not ASCII")
    name = host.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(map(_LABEL.match, labels)):
        raise RefusedError("not a host name")
    if len(labels) < 2:
        raise RefusedError("not a full host name")
    if labels[-1].isdecimal() or labels[-1].startswith("0x"):
        raise RefusedError("an address, not a name")
    return name


def public(address: str) -> bool:
    """True for an address of the public Internet, also when it is wrapped in another kind."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is None and parsed in _NAT64:
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return public(str(inner))
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """One attempt that was not let through. ``asked`` is what the client wrote: untrusted."""

    asked: str
    why: str


def behaviours(refusals: Iterable[Refusal], probe: str = "setup") -> tuple[Behaviour, ...]:
    """Each different refused attempt as a behaviour, with how often it was made."""
    counts: dict[Refusal, int] = {}
    for refusal in refusals:
        counts[refusal] = counts.get(refusal, 0) + 1
    return tuple(
        Behaviour(
            kind=BehaviourKind.CONNECT,
            subject=refusal.asked,
            actor="setup",
            detail={"reach": "outside", "proto": "tcp", "why": refusal.why},
            probes=(probe,),
            count=count,
            denied=True,
        )
        for refusal, count in counts.items()
    )


async def resolve(host: str, port: int) -> list[str]:
    """Every address of a name, by this machine's own resolver. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Proxy:
    """A running proxy. Use as a context manager; ``port`` is where it listens (this machine only)."""

    def __init__(
        self, allowed: Allowed, *, resolver: Resolve = resolve, listener: socket.socket | None = None
    ) -> None:
        self._allowed = allowed
        self._resolve = resolver
        self._listener = listener or socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1] if listener is None else 0
        self.refusals: list[Refusal] = []
        self.served: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="egress", daemon=True)
        self._busy = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._client, sock=self._listener, limit=_HEAD_BYTES)
        )
        try:
            self._loop.run_forever()
        finally:
            server.close()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = "?"
        try:
            if self._busy >= _AT_ONCE:
                raise RefusedError("too many connections at once")
            self._busy += 1
            try:
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _SECONDS)
                asked, host, port = target(head)
                self._allowed.check(host, port)
                await self._tunnel(reader, writer, host, port)
            finally:
                self._busy -= 1
        except RefusedError as error:
            self._refuse(asked, str(error))
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError) as error:
            self._refuse(asked, f"{type(error).__name__}")
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    def _refuse(self, asked: str, why: str) -> None:
        if len(self.refusals) < MOST:
            self.refusals.append(Refusal(asked=asked[:300], why=why))

    async def _tunnel(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int
    ) -> None:
        addresses = await asyncio.wait_for(self._resolve(host, port), _SECONDS)
        if not addresses or not all(map(public, addresses)):
            raise RefusedError("the name leads to an address that is not public")
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        hello = b""
        wanted: str | None = None
        while wanted is None and len(hello) < _CHUNK:
            more = await asyncio.wait_for(reader.read(_CHUNK), _SECONDS)
            hello += more
            if not more or not tls.looks_like_tls(hello[:3].ljust(3, b"\x03") if len(hello) < 3 else hello):
                raise RefusedError("what follows is not TLS")
            wanted = tls.server_name(hello)
        if wanted is None or wanted.removesuffix(".") != host:
            raise RefusedError("the TLS server name is another one")
        out_reader, out_writer = await self._connect(addresses, port)
        self.served.append(host)
        try:
            out_writer.write(hello)
            await asyncio.gather(_pass(reader, out_writer), _pass(out_reader, writer))
        finally:
            out_writer.close()

    async def _connect(
        self, addresses: list[str], port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """To an address that was checked, never to the name again."""
        last: OSError = OSError("no address")
        for address in addresses[:4]:
            try:
                return await asyncio.wait_for(asyncio.open_connection(address, port), _SECONDS)
            except (OSError, TimeoutError) as error:
                last = OSError(str(error))
        raise last


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        while data := await asyncio.wait_for(reader.read(_CHUNK), _IDLE):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()


def target(head: bytes) -> tuple[str, str, int]:
    """(as asked, canonical host, port) of a CONNECT request. Raises RefusedError.

    A Host header, where there is one, must name the same place.
    """
    match = _REQUEST.match(head)
    if match is None:
        raise RefusedError("only CONNECT is spoken here")
    asked = match[1].decode("latin-1")
    host, port = _split(asked)
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"host" and _split(value.strip().decode("latin-1"))[0] != host:
            raise RefusedError("the Host header is another one")
    return asked, host, port


def _split(place: str) -> tuple[str, int]:
    host, colon, port = place.rpartition(":")
    if not colon:
        host, port = place, "443"
    if "[" in host or ":" in host:
        raise RefusedError("an address, not a name")
    if not re.fullmatch(r"[0-9]{1,5}", port, re.ASCII) or int(port) > 65535:
        raise RefusedError("not a port")
    return canonical(host), int(port)
