"""What an installation may reach, and what a request for it must look like (threat IS-5). Opens nothing.

Two lists: rules/egress.toml, whose hosts must have public addresses and speak TLS, and the *own* places of
whoever runs gate (the index of this machine's pip configuration, ``--egress-allow``). Never the tree's.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.regex import regex
from gate.resources import rules_dir

_LABEL: Final = regex(r"(?!-)[a-z0-9-]{1,63}(?<!-)\Z")
_CONNECT: Final = regex(rb"CONNECT ([^ ]{1,512}) HTTP/1\.[01]\r\n")
_PLAIN: Final = regex(rb"(GET|HEAD) http://([^ /?#]{1,512})(/[\x21-\x7e]{0,4096})? HTTP/1\.[01]\r\n")
_WORD: Final = regex(rb"[A-Z]{1,10} (?:([a-zA-Z]{1,10})://)?([^ \r\n]{1,512})")
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")


class RefusedError(Exception):
    """An attempt that is not allowed; the text says why."""


@dataclass(frozen=True, kw_only=True)
class ConfiguredHost:
    """A place that the machine's own configuration names. ``inside``: it may have an address that is not
    public, because somebody said so for this very place. ``plain``: it is spoken to without TLS.
    """

    host: str
    port: int
    inside: bool = False
    plain: bool = False

    @classmethod
    def of(cls, text: str, *, inside: bool) -> ConfiguredHost:
        """From ``HOST``, ``HOST:PORT`` or an http(s) address. Raises RefusedError."""
        address = text if "://" in text else f"https://{text}"
        try:
            parts = urlsplit(address)
            port = parts.port
        except ValueError as error:
            raise RefusedError(f"{text}: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RefusedError(f"{text}: not HOST, HOST:PORT or an http(s) address")
        plain = parts.scheme == "http"
        host = _address(parts.hostname) or canonical(parts.hostname)
        return cls(host=host, port=port or (80 if plain else 443), inside=inside, plain=plain)


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """Canonical names (``*.`` in front: everything below) and ports of the rules, and own places."""

    hosts: frozenset[str]
    ports: frozenset[int]
    own: frozenset[ConfiguredHost] = frozenset()

    @classmethod
    def load(cls, path: Path | None = None, own: Iterable[ConfiguredHost] = ()) -> Allowed:
        """Read the rules. An empty list allows nothing. Raises UsageError."""
        path = path or rules_dir() / "egress.toml"
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            hosts, ports = table.pop("hosts"), table.pop("ports")
            if table.pop("version") != 1 or table:
                raise ValueError(f"unknown keys or version: {', '.join(table)}")
            return cls.of(hosts, ports, own)
        except (OSError, KeyError, TypeError, ValueError, RefusedError) as error:
            raise UsageError(
                f"{path.name}: {error}", advice="See rules/egress.toml of gate itself."
            ) from error

    @classmethod
    def of(cls, hosts: Iterable[str], ports: Iterable[int], own: Iterable[ConfiguredHost] = ()) -> Allowed:
        """From plain values. Raises RefusedError for a name that is none."""
        names = frozenset(
            "*." + canonical(host[2:]) if host.startswith("*.") else canonical(host) for host in hosts
        )
        return cls(hosts=names, ports=frozenset(ports), own=frozenset(own))

    def check(self, host: str, port: int, *, plain: bool = False) -> bool:
        """Whether its addresses may be others than public ones. Raises RefusedError unless this canonical
        host may be reached at this port, in this manner.
        """
        own = [place for place in self.own if (place.host, place.port) == (host, port)]
        if own and plain <= any(place.plain for place in own):
            return any(place.inside for place in own)
        below = ("*." + host.partition(".")[2], *_above(host.partition(".")[2]))
        if host not in self.hosts and not self.hosts.intersection(below):
            inside = any(place.host == host for place in self.own)
            raise RefusedError("port is not on the list" if inside else "host is not on the list")
        if plain:
            raise RefusedError("only TLS is spoken to it")
        if port not in self.ports:
            raise RefusedError("port is not on the list")
        return any(place.inside and place.host == host for place in self.own)

    def is_own(self, host: str) -> bool:
        """True for an own place's host."""
        return any(place.host == host for place in self.own)


@dataclass(frozen=True, kw_only=True)
class EgressRequest:
    """What a client of the proxy wants. ``plain``: the ``method`` and ``path`` of a request without TLS."""

    host: str
    port: int
    plain: bool = False
    method: str = ""
    path: str = ""


def parse(head: bytes, allowed: Allowed) -> EgressRequest:
    """A request of the proxy's clients: CONNECT, or GET and HEAD of a whole address. Raises RefusedError.

    A Host header, where there is one, must name the same place.
    """
    connect, plain = _CONNECT.match(head), _PLAIN.match(head)
    if connect is not None:
        host, port = _split(connect[1], 443, allowed)
        request = EgressRequest(host=host, port=port)
    elif plain is not None:
        host, port = _split(plain[2], 80, allowed)
        path = (plain[3] or b"/").decode("ascii")
        request = EgressRequest(host=host, port=port, plain=True, method=plain[1].decode("ascii"), path=path)
    else:
        raise RefusedError("only CONNECT is spoken here")
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"host" and _split(value.strip(), port, allowed)[0] != host:
            raise RefusedError("the Host header is another one")
    return request


def requested_host(head: bytes) -> str:
    """The place that a request names, as written: untrusted text for people."""
    match = _WORD.match(head)
    if match is None:
        return "?"
    place = re.split(rb"[/?#]", match[2])[0].decode("latin-1")
    colon = re.search(r":[^:\]]*\Z", place)
    return place if colon or not match[1] else f"{place}:{443 if match[1].lower() == b'https' else 80}"


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


def metadata(address: str) -> bool:
    """True for a link-local address, where clouds answer with credentials: refused to everybody."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return True
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        return metadata(str(parsed.ipv4_mapped))
    return parsed.is_link_local or parsed == ipaddress.ip_address("fd00:ec2::254")


def _above(name: str) -> Iterable[str]:
    while name:
        name = name.partition(".")[2]
        yield "*." + name


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


def _split(place: bytes, usual: int, allowed: Allowed) -> tuple[str, int]:
    text = place.decode("latin-1")
    host, colon, port = text.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = text, str(usual)
    if not re.fullmatch(r"[0-9]{1,5}", port, re.ASCII) or int(port) > 65535:
        raise RefusedError("not a port")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if allowed.is_own(bare) and _address(bare) == bare:
        return bare, int(port)
    if "[" in host or ":" in host:
        raise RefusedError("an address, not a name")
    return canonical(host), int(port)
