"""Criterion 3: can anything leave by the network? Runs inside a sandbox only.

Destinations are documentation ranges (RFC 5737, RFC 3849), the metadata and private addresses that
the sandbox's own namespace may or may not route, and listeners that the host put up for this run.
Where a sinkhole answers, reaching it is no hole as long as loopback is the only interface.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kit import ARGUMENTS, Answer, check, error_text, head_of

GROUP = "network"
SECONDS = 1.0
METADATA = ("169.254.169.254", "100.100.100.200", "100.96.0.96", "100.80.80.80", "168.63.129.16")
METADATA_NAMES = ("metadata.google.internal", "metadata.tencentyun.com", "instance-data")
PRIVATE = ("10.0.0.1", "10.96.0.1", "172.16.0.1", "192.168.0.1", "192.168.122.1", "100.64.0.1")
OUTSIDE = ("192.0.2.1", "198.51.100.7", "203.0.113.9")


def interfaces() -> list[str]:
    """Every interface of this namespace but loopback."""
    names = {name for _, name in socket.if_nameindex()}
    for line in head_of("/proc/net/dev").decode("ascii", "replace").splitlines()[2:]:
        names.add(line.partition(":")[0].strip())
    return sorted(names - {"lo", ""})


def verdict(tried: str, reached: list[str], said: list[str]) -> Answer:
    """Reaching something is no hole where the only interface is loopback: then a sinkhole answered."""
    if not reached:
        return True, tried, "; ".join(sorted(set(said)))[:250] or "nothing answered"
    others = interfaces()
    text = f"answered: {', '.join(reached)}; "
    if others:
        return False, tried, f"{text}by an interface beside loopback: {', '.join(others)}"
    if ARGUMENTS.get("sinkhole"):
        return True, tried, f"{text}only the sinkhole, as loopback is the only interface"
    return False, tried, f"{text}though no sinkhole was asked for"


def each(tried: str, targets: Sequence[tuple[str, Callable[[], object]]]) -> Answer:
    """Try all; an answer or an accepted packet counts as reached."""
    reached, said = [], []
    for name, attempt in targets:
        try:
            attempt()
            reached.append(name)
        except OSError as error:
            said.append(error_text(error) if error.errno else type(error).__name__)
    return verdict(tried, reached, said)


def stream(family: int, address: Any) -> None:
    """A TCP connection."""
    with socket.socket(family, socket.SOCK_STREAM) as link:
        link.settimeout(SECONDS)
        link.connect(address)


def datagram(family: int, address: Any, data: bytes = b"gate") -> None:
    """A UDP packet, and somebody's answer to it."""
    with socket.socket(family, socket.SOCK_DGRAM) as link:
        link.settimeout(SECONDS)
        link.sendto(data, address)
        link.recvfrom(512)


def streams(addresses: tuple[str, ...], port: int = 80) -> list[tuple[str, Callable[[], object]]]:
    """TCP attempts."""
    return [
        (a, partial(stream, socket.AF_INET6 if ":" in a else socket.AF_INET, (a, port))) for a in addresses
    ]


@check(GROUP, "network.interfaces")
def only_loopback() -> Answer:
    """What is not there cannot be used."""
    others = interfaces()
    routes = [
        line.split()[0]
        for line in head_of("/proc/net/route").decode("ascii", "replace").splitlines()[1:]
        if line.split()
    ]
    away = [name for name in routes if name != "lo"]
    return (
        not others and not away,
        "interfaces and routes of the namespace",
        f"beside lo: {others}, routes by {away}" if others or away else "lo only, no route by another",
    )


@check(GROUP, "network.tcp")
def tcp() -> Answer:
    """Direct addresses, so that no resolver is needed."""
    return each(
        "TCP to documentation addresses, ports 80, 443, 22",
        [pair for port in (80, 443, 22) for pair in streams(OUTSIDE, port)],
    )


@check(GROUP, "network.udp")
def udp() -> Answer:
    """Ports that firewalls like to leave open."""
    return each(
        "UDP to documentation addresses, ports 53, 123, 443",
        [
            (f"{a}:{p}", partial(datagram, socket.AF_INET, (a, p)))
            for a in OUTSIDE[:1]
            for p in (53, 123, 443)
        ],
    )


@check(GROUP, "network.metadata")
def metadata() -> Answer:
    """The addresses where clouds hand credentials to whoever asks."""
    named = []
    for name in METADATA_NAMES:
        try:
            named += [str(found[4][0]) for found in socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)]
        except OSError:
            continue
    return each(
        f"TCP to {len(METADATA)} metadata addresses, {len(METADATA_NAMES)} names, fd00:ec2::254",
        streams((*METADATA, "fd00:ec2::254", *named)),
    )


@check(GROUP, "network.private")
def private() -> Answer:
    """Neighbours in the machine's own networks."""
    return each(f"TCP to {', '.join(PRIVATE)}", streams(PRIVATE))


@check(GROUP, "network.ipv6")
def ipv6() -> Answer:
    """Often forgotten in filters."""
    return each(
        "TCP and UDP to 2001:db8::1, TCP to ff02::1 and fe80::1",
        [
            *streams(("2001:db8::1", "fe80::1", "ff02::1")),
            ("2001:db8::1 udp", lambda: datagram(socket.AF_INET6, ("2001:db8::1", 53))),
        ],
    )


@check(GROUP, "network.icmp")
def icmp() -> Answer:
    """Ping by the socket kind that needs no privilege, and by the raw one."""
    request = struct.pack("!BBHHH", 8, 0, 0xF7FF, 0, 0)

    def ping(kind: int) -> None:
        with socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP) as link:
            link.settimeout(SECONDS)
            link.sendto(request, ("192.0.2.1", 0))
            link.recvfrom(512)

    return each(
        "ICMP echo to 192.0.2.1",
        [("datagram", lambda: ping(socket.SOCK_DGRAM)), ("raw", lambda: ping(socket.SOCK_RAW))],
    )


@check(GROUP, "network.raw")
def raw() -> Answer:
    """Packets made by hand."""
    made, said = [], []
    for name, family, kind, protocol in (
        ("raw", socket.AF_INET, socket.SOCK_RAW, 6),
        ("raw IPv6", socket.AF_INET6, socket.SOCK_RAW, 58),
        ("packet", 17, socket.SOCK_RAW, 0x0300),
        ("packet datagram", 17, socket.SOCK_DGRAM, 0x0300),
    ):
        try:
            socket.socket(family, kind, protocol).close()
            made.append(name)
        except OSError as error:
            said.append(error_text(error))
    return (
        not made,
        "raw and packet sockets",
        f"made: {', '.join(made)}" if made else "; ".join(sorted(set(said))),
    )


@check(GROUP, "network.other-families")
def other_families() -> Answer:
    """Ways to the host that are no network: the hypervisor's socket, kernel crypto, Bluetooth, CAN, TIPC."""
    made, said = [], []
    for name, family, kind, protocol in (
        ("vsock", 40, 1, 0),
        ("alg", 38, 5, 0),
        ("bluetooth", 31, 3, 1),
        ("can", 29, 3, 1),
        ("tipc", 30, 1, 0),
        ("rds", 21, 5, 0),
        ("kcm", 41, 2, 0),
        ("xdp", 44, 3, 0),
        ("ax25", 3, 2, 0),
        ("smc", 43, 1, 0),
    ):
        try:
            link = socket.socket(family, kind, protocol)
        except OSError as error:
            said.append(error_text(error))
            continue
        with link:
            if family == 40:
                link.settimeout(SECONDS)
                try:
                    link.connect((2, ARGUMENTS.get("vsock_port", 22)))
                except OSError as error:
                    said.append(error_text(error))
                    continue
            made.append(name)
    return (
        not made,
        "sockets of ten rare families",
        f"made: {', '.join(made)}" if made else "; ".join(sorted(set(said))),
    )


@check(GROUP, "network.dns")
def dns() -> Answer:
    """Data in the labels of a name, through the resolver that the system is set up with."""
    label = os.urandom(8).hex()
    reached, said = [], []
    for name in (f"{label}.tunnel.example", f"{label}.exfil.invalid", "example.com"):
        try:
            found = socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)
            reached.append(f"{name} is {found[0][4][0]}")
        except OSError as error:
            said.append(str(error))
    return verdict("resolve names that carry data", reached, said)


@check(GROUP, "network.dns-direct")
def dns_direct() -> Answer:
    """A query by hand to a resolver of the attacker's choice, by UDP and TCP."""
    name = (
        b"".join(bytes([len(part)]) + part for part in (os.urandom(8).hex().encode(), b"tunnel", b"example"))
        + b"\0"
    )
    query = struct.pack("!6H", 0x1234, 0x0100, 1, 0, 0, 0) + name + struct.pack("!2H", 16, 1)
    servers = [
        line.split()[1]
        for line in head_of("/etc/resolv.conf").decode("utf-8", "replace").splitlines()
        if line.startswith("nameserver ")
    ]
    attempts: list[tuple[str, Callable[[], object]]] = [
        (f"udp {s}", partial(datagram, socket.AF_INET6 if ":" in s else socket.AF_INET, (s, 53), query))
        for s in ("192.0.2.53", *servers)
    ]
    return each(
        "TXT query to 192.0.2.53 and to each configured resolver", [*attempts, *streams(("192.0.2.53",), 53)]
    )
