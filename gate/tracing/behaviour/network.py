"""Network: who was talked to, which names were asked for, what was listened on."""

from __future__ import annotations

from typing import Final, NamedTuple

from gate.inside.observer.text import bytes_of
from gate.model.behaviour import BehaviourKind as Kind
from gate.tracing.behaviour.accumulator import Cells
from gate.tracing.behaviour.addresses import EPHEMERAL, Reach, endpoint_text, reach
from gate.tracing.behaviour.dns_query import query_name
from gate.tracing.behaviour.files import FileView
from gate.tracing.behaviour.normalise import name_shape
from gate.tracing.behaviour.outgoing_data import Channels
from gate.tracing.behaviour.paths import GATE, classify_path
from gate.tracing.behaviour.program_chains import Actors
from gate.tracing.events import Net, Socket
from gate.tracing.readers.sinkhole import SinkholeLog, plain

_DNS: Final = 53
UNKNOWN: Final = "?"
_NAMES: Final = 30
"""Different names below one domain told one by one; more are told as ``*.domain``."""
_QUIET_FAMILIES: Final = frozenset(("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"))
_HEAD: Final = 80
_PLACES: Final = 50_000


class Whereabouts(NamedTuple):
    """``subject`` names the end exactly; ``shape`` without what may differ by chance (empty: the same)."""

    reach: Reach
    subject: str
    shape: str
    host: str


def host_shape(name: str) -> str:
    """``tenant-48213.example`` → ``tenant-*.example``."""
    return ".".join(map(name_shape, name.split(".")))


class NetView:
    """Keeps which ports the run itself listens on, and the names below each domain (bounded)."""

    def __init__(
        self,
        cells: Cells,
        actors: Actors,
        channels: Channels,
        files: FileView,
        names: SinkholeLog | None = None,
    ) -> None:
        self._cells, self._actors, self._channels, self._files = cells, actors, channels, files
        self._names = names or SinkholeLog()
        self.talkers: dict[tuple[str, int], str] = {}
        """Who connected or sent to an address and port, in their plain form."""
        self.streams: set[tuple[str, int]] = set()
        """Where TCP connections were asked for."""
        self.asked: set[str] = set()
        """Names whose question was in the trace."""
        self._own_ports: set[int] = set()
        self._below: dict[str, set[str]] = {}
        self._named: set[str] = set()

    def socket(self, event: Socket) -> None:
        """Only sockets that see or forge other people's traffic are worth a behaviour by themselves."""
        raw = event.kind == "SOCK_RAW" and event.family in ("AF_INET", "AF_INET6")
        if raw or event.family not in _QUIET_FAMILIES:
            what = f"socket {event.family}{' raw' if raw else ''}"
            detail = {"family": event.family, "kind": event.kind}
            self._cells.add(Kind.DENIED, what, self._actors.chain(event.pid), detail, denied=event.denied)

    def call(self, event: Net) -> None:
        """connect, bind, listen and sends."""
        if event.abi != "native":
            self._cells.add(Kind.EVADE, f"foreign-abi {event.abi}", self._actors.chain(event.pid))
        if event.family in ("AF_INET", "AF_INET6"):
            self._internet(event)
        elif event.family == "AF_UNIX":
            self._unix(event)
        elif event.family not in ("AF_NETLINK", "AF_UNSPEC", ""):
            subject = f"{event.family}:{event.addr}:{event.port or ''}"
            detail = {"family": event.family}
            self._cells.add(Kind.CONNECT, subject, self._actors.chain(event.pid), detail, denied=event.denied)

    def knows_all_names(self) -> None:
        """The sinkhole saw the questions: none is unknown."""
        self._named.add(UNKNOWN)

    def finish(self) -> None:
        """A look-up whose name was not seen is not told beside one of the same server whose name was."""
        for unknown in self._named:
            self._cells.drop(Kind.DNS, unknown)

    def _unix(self, event: Net) -> None:
        if event.call not in ("connect", "bind", "sendto") or not event.addr:
            return
        chain = self._actors.chain(event.pid)
        if event.addr.startswith("@"):
            return  # the abstract namespace is the sandbox's own
        if event.addr.startswith(GATE):
            self._cells.add(Kind.EVADE, "talks to the gate's sockets", chain, {"path": event.addr})
            return
        where = classify_path(event.addr)
        if where.kind in ("scratch", "tree", "names", "quiet", "device", "proc") or where.noise:
            return
        kind = Kind.LISTEN if event.call == "bind" else Kind.CONNECT
        detail = {"family": "unix", "reach": "unix"}
        self._cells.add(kind, f"unix:{where.shown}", chain, detail, denied=event.denied)

    def _internet(self, event: Net) -> None:
        port = event.port or 0
        if event.call in ("bind", "listen"):
            self._listens(event, port)
        elif port == _DNS and not (event.call == "connect" and event.proto == "tcp"):
            self._asks(event)
        elif event.call == "connect":
            self._connects(event, port)
        elif event.addr:
            self._sends(event, port)

    def _listens(self, event: Net, port: int) -> None:
        if port:
            self._own_ports.add(port)
        if event.call == "bind" and (event.proto != "udp" or not port):
            return  # a stream socket listens later; a datagram socket without a port is a client's
        if not event.addr:
            return
        detail = {"reach": reach(event.addr), "proto": event.proto, "port": str(port)}
        subject = endpoint_text(event.addr, port)
        self._cells.add(Kind.LISTEN, subject, self._actors.chain(event.pid), detail, denied=event.denied)

    def _asks(self, event: Net) -> None:
        """A name server is asked. Without a sinkhole the name is in the datagram's head, if anywhere."""
        chain = self._actors.chain(event.pid)
        self._note(event, _DNS, chain)
        detail = {"server": endpoint_text(event.addr, event.port)}
        asked = query_name(bytes_of(event.head)) if event.head else None
        unknown = UNKNOWN
        if reach(event.addr) == "outside":
            # The sandbox's own resolver is this machine: whoever writes to another one chose it, and
            # what follows the question (or stands in for one) is data.
            unknown = f"{UNKNOWN} of {detail['server']}"
            if event.call != "connect":
                self._sends(event, _DNS)
        if asked is None:
            if event.head:
                self._channels.add("net", detail["server"], bytes_of(event.head), chain)
            self._then_network("a name server", chain)
            self._cells.add(Kind.DNS, unknown, chain, detail, denied=event.denied)
            return
        self._named.add(unknown)
        self.looked_up(*asked, chain, detail, denied=event.denied)

    def looked_up(
        self, name: str, qtype: str, chain: str, detail: dict[str, str], *, denied: bool = False
    ) -> None:
        """A name was asked for, as the trace or the sinkhole tells."""
        self.asked.add(name)
        self._then_network(name, chain)
        labels = name.split(".")
        domain = ".".join(labels[-2:])
        self._channels.add("dns", domain, "".join(labels[:-2]).encode("utf-8", "replace"), chain)
        below = self._below.setdefault(domain, set()) if len(self._below) < 1000 else set[str]()
        if len(below) < _NAMES:
            below.add(name)
        subject, shape = (name, host_shape(name)) if name in below else (f"*.{domain}", "")
        known = detail | {"qtype": qtype, "name": name}
        self._cells.add(Kind.DNS, subject, chain, known, denied=denied, shape=shape)

    def whereabouts(self, addr: str, port: int | None) -> Whereabouts:
        """Where an address leads, with the host name that the sinkhole gave it for, if any."""
        near = reach(addr)
        host = "" if near in ("loopback", "none") else self._names.name_of(addr)
        if not host:  # `localhost.` is asked of the name server, and is this machine all the same
            return Whereabouts(near, endpoint_text(addr, port), "", "")
        colon = f":{port}" if port is not None else ""
        return Whereabouts("outside", host + colon, host_shape(host) + colon, host)

    def _note(self, event: Net, port: int, chain: str) -> None:
        key = (plain(event.addr), port)
        if len(self.talkers) < _PLACES:
            self.talkers.setdefault(key, chain)
            if event.proto == "tcp" and not event.denied:
                self.streams.add(key)

    def _connects(self, event: Net, port: int) -> None:
        where, _, _, host = self.whereabouts(event.addr, port)
        if host and event.proto == "udp":
            return  # getaddrinfo sorts the addresses of a name by asking for routes; what is sent is told
        if where == "none" and not port:
            return  # dissolves an association
        if not port and event.proto != "raw":
            return  # getaddrinfo sorts addresses by asking for routes
        chain = self._actors.chain(event.pid)
        self._note(event, port, chain)
        own = where in ("loopback", "none") and port in self._own_ports
        _, subject, shape, _ = self.whereabouts(event.addr, None if self._is_chance(where, port) else port)
        detail = {"reach": where, "proto": event.proto, "port": str(port), "own": "yes" if own else ""}
        detail["host"] = host
        if where not in ("loopback", "none") and event.proto != "udp":
            self._then_network(subject, chain)
        self._cells.add(Kind.CONNECT, subject, chain, detail, denied=event.denied, shape=shape)

    def _is_chance(self, where: Reach, port: int) -> bool:
        """Is the port one that a socket of this run got by chance? Elsewhere that number means nothing."""
        near = where in ("loopback", "none")
        return port in self._own_ports and (near or port >= EPHEMERAL)

    def _sends(self, event: Net, port: int) -> None:
        where, _, _, host = self.whereabouts(event.addr, port)
        chain = self._actors.chain(event.pid)
        self._note(event, port, chain)
        _, subject, shape, _ = self.whereabouts(event.addr, None if self._is_chance(where, port) else port)
        head = bytes_of(event.head)
        if where not in ("loopback", "none"):
            self._channels.add("net", shape or subject, head, chain)
            self._then_network(subject, chain)
        if event.proto == "tcp":
            return  # its connection was told
        detail = {
            "reach": where,
            "proto": event.proto,
            "port": str(port),
            "size": str(event.size or 0),
            "head": event.head[:_HEAD],
            "host": host,
        }
        self._cells.add(Kind.SEND, subject, chain, detail, denied=event.denied, shape=shape)

    def _then_network(self, to: str, chain: str) -> None:
        """A canary was read before: now something goes out."""
        for name, reader in self._files.canaries_read.items():
            program = reader.rsplit(">", 1)[-1]
            detail = {"canary": name, "channel": "then-network", "to": to, "reader": program}
            self._cells.add(Kind.CANARY, f"{name} then network", chain, detail)
