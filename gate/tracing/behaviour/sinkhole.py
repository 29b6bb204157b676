"""What the sinkhole saw, beside what the tracer saw: requests, names, bytes; and where both disagree."""

from __future__ import annotations

from collections import Counter
from typing import Final

from gate.inside.observer.text import text_of
from gate.model.behaviour import BehaviourKind as Kind
from gate.tracing.behaviour.accumulator import Cell, Cells
from gate.tracing.behaviour.addresses import endpoint_text, reach
from gate.tracing.behaviour.network import NetView
from gate.tracing.behaviour.normalise import address_shape, name_shape
from gate.tracing.behaviour.outgoing_data import Channels
from gate.tracing.own_service import OwnServices
from gate.tracing.readers.sinkhole import (
    Datagram,
    DnsQuery,
    HttpRequest,
    Sent,
    SinkholeLog,
    TcpConnection,
    TlsHandshake,
    plain,
)

UNTRACED: Final = "connection that the tracer did not see"
UNSEEN: Final = "connection that reached nobody"
_HEAD: Final = 80
_PAIRS: Final = 16
_TOLD: Final = 3
"""Requests told in the evidence of their connection."""
_PLAIN_HEADERS: Final = frozenset(("host", "content-length", "connection", "transfer-encoding", "expect"))


class SinkholeView:
    """Adds to the cells and channels of one run; used once, after the trace was read."""

    def __init__(
        self, log: SinkholeLog, net: NetView, cells: Cells, channels: Channels, own: OwnServices
    ) -> None:
        self._log, self._net, self._cells, self._channels = log, net, cells, channels
        self._own = own
        self._told: Counter[int] = Counter()
        self._seconds: float | None = None
        self._behind: float | None = None
        """Seconds by which the trace's clock is ahead of the sinkhole's, from the first shared connection."""

    def finish(self, *, whole: bool) -> None:
        """``whole``: both records have everything, so that a difference between them means something."""
        for event in self._log.events:
            self._at(event.t)
            if isinstance(event, DnsQuery):
                self._asked(event)
            elif isinstance(event, TlsHandshake):
                self._secured(event)
            elif isinstance(event, HttpRequest):
                self._requested(event)
            elif isinstance(event, Sent):
                self._sent(event)
            elif isinstance(event, Datagram):
                self._datagram(event)
        self._at(None)
        if self._log.cut:
            self._cells.add(Kind.LIMIT, "network-content")
        if whole:
            self._cross_check()

    def _at(self, seconds: float | None) -> None:
        """What follows was seen then, by the sinkhole's clock."""
        self._seconds = seconds
        known = seconds is not None and self._behind is not None
        self._cells.now = max(0.0, (seconds or 0.0) + (self._behind or 0.0)) if known else None
        self._channels.now = self._cells.now

    def _actor(self, addr: str, port: int) -> str:
        return self._net.talkers.get((plain(addr), port), "")

    def _asked(self, event: DnsQuery) -> None:
        """Names of questions that the tracer could not read, and what the longest labels carry together."""
        actor = self._actor(event.server, 53)
        if event.name not in self._net.asked:
            detail = {"server": endpoint_text(event.server, 53)}
            self._net.looked_up(event.name, event.qtype, actor, detail)
        if reach(event.server) == "loopback":
            self._net.knows_all_names()
        labels = event.raw.split(b".")
        domain = ".".join(event.name.split(".")[-2:])
        if len(labels) > 2:
            self._channels.add("dns-labels", domain, max(labels[:-2], key=len), actor)

    def _connection(self, number: int) -> tuple[TcpConnection, Cell, str, str] | None:
        """The connection, its cell, who made it and to whom; None for a line that belongs to none."""
        made = self._log.connections.get(number)
        if made is None:
            return None
        where, subject, alike, host = self._net.whereabouts(made.addr, made.port)
        actor = self._actor(made.addr, made.port)
        detail = {"reach": where, "proto": "tcp", "port": str(made.port), "host": host}
        cell = self._cells.get(Kind.CONNECT, subject, actor, detail, shape=alike)
        if self._behind is None and cell.first_seen is not None:
            self._behind = cell.first_seen - made.t
            self._at(self._seconds)
        return made, cell, actor, host or made.addr

    def _secured(self, event: TlsHandshake) -> None:
        found = self._connection(event.id)
        if found is None:
            return
        _, cell, _, host = found
        cell.detail.setdefault("tls", "accepted" if event.ok else f"broken off: {event.why}"[:_HEAD])
        if event.sni and event.sni != host:
            cell.detail.setdefault("server_name", event.sni)

    def _requested(self, event: HttpRequest) -> None:
        found = self._connection(event.id)
        if found is None:
            return
        made, cell, actor, host = found
        path, _, query = event.target.partition(b"?")
        named = event.header("host").partition(":")[0].lower() or host
        shape = "/".join(address_shape(text_of(part)) for part in path.split(b"/"))
        detail = {
            "scheme": event.scheme,
            "host": named,
            "method": event.method,
            "path": text_of(event.target),
            "port": str(made.port),
            "size": str(event.size) if event.size else "",
            "agent": event.header("user-agent")[:_HEAD],
            "head": text_of(event.body[:_HEAD]),
            "reach": cell.detail.get("reach", "outside"),
            "fronted": host if named not in (host, made.addr) else "",
        }
        asked = f"{event.method} {named}"
        self._cells.add(Kind.HTTP, (asked + text_of(path))[:300], actor, detail, shape=(asked + shape)[:300])
        self._told[event.id] += 1
        if self._told[event.id] <= _TOLD:
            line = f"{event.method} {text_of(event.target)[:_HEAD]}" + (
                f" ({event.size} bytes)" if event.size else ""
            )
            before = cell.detail.get("http", "")
            if len(before) < 2 * _HEAD and line not in before:
                cell.detail["http"] = f"{before}; {line}" if before else line
        self._carried(event, path, query, named, actor)

    def _carried(self, event: HttpRequest, path: bytes, query: bytes, host: str, actor: str) -> None:
        """Each part of a request by itself, so that a secret split over requests is whole again."""
        add = self._channels.add
        add("http", host, event.target, actor)
        add("http-body", host, event.body, actor)
        for pair in query.split(b"&")[:_PAIRS]:
            key, _, value = pair.partition(b"=")
            add("http-query", f"{host} {name_shape(text_of(key[:_HEAD]))}", value, actor)
        add("http-path", host, path.rpartition(b"/")[2], actor)
        for name, value in event.headers:
            if name.lower() not in _PLAIN_HEADERS:
                told = self._own.folded(event, self._log.connections.get(event.id), name.lower(), value)
                add("http-header", f"{host} {name.lower()}", told, actor)

    def _sent(self, event: Sent) -> None:
        found = self._connection(event.id)
        if found is None:
            return
        made, cell, actor, host = found
        cell.detail.setdefault("head", text_of(event.data[:_HEAD]))
        self._channels.add("tcp", f"{host}:{made.port}", event.data, actor)

    def _datagram(self, event: Datagram) -> None:
        """Datagrams on a connected socket carry no address for the tracer to see."""
        where, subject, shape, host = self._net.whereabouts(event.addr, event.port)
        actor = self._actor(event.addr, event.port)
        self._channels.add("udp", shape or subject, event.data, actor)
        detail = {
            "reach": where,
            "proto": "udp",
            "port": str(event.port),
            "size": str(event.size),
            "head": text_of(event.data[:_HEAD]),
            "host": host,
        }
        cell = self._cells.get(Kind.SEND, subject, actor, detail, shape=shape)
        cell.count += not cell.count

    def _cross_check(self) -> None:
        """Both observers must tell of the same connections.

        One that only the sinkhole saw was made past the tracer, or its address was changed under the
        tracer's eyes. One that only the tracer saw may have failed by itself (an address in use, a
        closed socket): told, and weighed as information.
        """
        reached = set()
        for made in self._log.connections.values():
            key = (plain(made.addr), made.port)
            reached.add(key)
            if key not in self._net.talkers and reach(made.addr) not in ("loopback", "none"):
                subject = self._net.whereabouts(made.addr, made.port)[1]
                self._cells.add(Kind.EVADE, UNTRACED, "", {"to": subject})
        for addr, port in sorted(self._net.streams - reached):
            if port and reach(addr) in ("outside", "private", "metadata") and addr not in _OWN:
                actor = self._net.talkers[addr, port]
                subject = self._net.whereabouts(addr, port)[1]
                self._cells.add(Kind.EVADE, UNSEEN, actor, {"to": subject})


_OWN: Final = ("10.0.2.15", "fd00:2::15")
"""The sandbox's own addresses (gate/inside/sinkhole/netlink.py): traffic to them stays with the code."""
