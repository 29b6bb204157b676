"""The sinkhole's log, read strictly: what came in, with names, in the order it came.

Written by gate/inside/sinkhole/log.py outside the code's reach; its text is the code's and hostile. Bytes
are base64 in the file. What cannot be read counts as not seen, never guessed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from gate.dataclass import dataclass
from gate.model.run import Completeness

MAX_LINE: Final = 1 << 20
Name = Annotated[str, Meta(max_length=1024)]
Count = Annotated[int, Meta(ge=0, le=1 << 62)]
Port = Annotated[int, Meta(ge=0, le=65535)]


class _Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="ev"):
    """``seq`` counts lines from 0 without a gap; ``t`` is seconds since the sinkhole began."""

    seq: Count
    t: Annotated[float, Meta(ge=0, le=1e7)] = 0.0


class Start(_Line, frozen=True, kw_only=True, tag="start"):
    """The first line."""

    version: Literal[1]


class DnsQuery(_Line, frozen=True, kw_only=True, tag="dns"):
    """A question of the name system. ``answer``: the address given, empty for other types."""

    server: Name
    proto: Literal["udp", "tcp"]
    name: Name
    qtype: Name
    raw: bytes
    answer: Name


class TcpConnection(_Line, frozen=True, kw_only=True, tag="connect"):
    """A TCP connection was accepted. ``name``: what the address had been given for, empty where nothing."""

    id: Count
    addr: Name
    port: Port
    name: Name
    source: Port


class TlsHandshake(_Line, frozen=True, kw_only=True, tag="tls"):
    """A TLS handshake. ``ok`` False: the client did not go on (it trusts other authorities)."""

    id: Count
    sni: Name
    ok: bool
    why: Name


class HttpRequest(_Line, frozen=True, kw_only=True, tag="http"):
    """An HTTP request. ``size`` is the whole body's, ``body`` its beginning."""

    id: Count
    scheme: Literal["http", "https"]
    method: Name
    target: bytes
    headers: Annotated[tuple[tuple[Name, bytes], ...], Meta(max_length=128)]
    body: bytes
    size: Count
    status: Count

    def header(self, name: str) -> str:
        """The first header of that name (lower-case), as text; empty when absent."""
        found = (value for key, value in self.headers if key.lower() == name)
        return next(found, b"").decode("latin-1")


class Sent(_Line, frozen=True, kw_only=True, tag="data"):
    """Bytes of a connection that is not HTTP."""

    id: Count
    data: bytes


class Datagram(_Line, frozen=True, kw_only=True, tag="udp"):
    """A datagram that is no question of the name system."""

    addr: Name
    port: Port
    name: Name
    size: Count
    data: bytes


class Closed(_Line, frozen=True, kw_only=True, tag="closed"):
    """A connection ended; ``size`` bytes were received as they came over the wire."""

    id: Count
    size: Count


class Summary(_Line, frozen=True, kw_only=True, tag="summary"):
    """The last line. ``dropped`` lines are missing; of ``cut`` ones only the beginning was kept."""

    lines: Count
    dropped: Count
    cut: Count
    connections: Count
    datagrams: Count
    refused: Count


Event = Start | DnsQuery | TcpConnection | TlsHandshake | HttpRequest | Sent | Datagram | Closed | Summary
_DECODER: Final = msgspec.json.Decoder(Event)


@dataclass(kw_only=True)
class SinkholeLog:
    """One log in memory: bounded, as the sinkhole's own budget is (16 MiB)."""

    events: list[Event] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Address -> the name it was given for."""
    connections: dict[int, TcpConnection] = field(default_factory=dict)
    cut: int = 0
    """Lines or connections of whose bytes only the beginning was kept."""
    completeness: Completeness = field(default_factory=lambda: Completeness(truncated=True))

    def name_of(self, address: str) -> str:
        """The name that an address stands for; empty for an address that the code had from elsewhere."""
        return self.names.get(plain(address), "") if self.names else ""


def plain(address: str) -> str:
    """An address in its one usual form; IPv4 inside IPv6 as IPv4."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)


def read_log(path: Path | None) -> SinkholeLog:
    """Read one log. A missing file is a truncated log; never raises for content."""
    log = SinkholeLog()
    if path is None:
        return log
    bad = gaps = expected = 0
    summary: Summary | None = None
    for event in _events(path):
        if event is None:
            bad += 1
            expected += 1
            continue
        if summary is not None or (event.seq == 0) is not isinstance(event, Start):
            bad += 1
            continue
        gaps += event.seq != expected
        expected = event.seq + 1
        if isinstance(event, Summary):
            summary = event
            continue
        log.events.append(event)
        if isinstance(event, TcpConnection):
            log.connections[event.id] = event
        elif isinstance(event, DnsQuery) and event.answer:
            log.names.setdefault(plain(event.answer), event.name)
    log.cut = summary.cut if summary else 0
    whole = summary is not None and summary.lines == expected - 1
    log.completeness = Completeness(
        dropped=gaps + (summary.dropped if summary else 0), unparsed=bad, truncated=not whole
    )
    return log


def _events(path: Path) -> Iterator[Event | None]:
    """Events; None for a line that is none."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return
    with stream:
        while line := stream.readline(MAX_LINE + 1):
            if not line.endswith(b"\n"):
                yield None
                return
            try:
                yield _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield None
