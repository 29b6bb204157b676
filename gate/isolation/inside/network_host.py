"""Criterion 3: can the host or its settings be reached over a network? Runs inside a sandbox only."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable
from functools import partial

from kit import ARGUMENTS, Answer, check, error_text, head_of, not_here
from network import GROUP, SECONDS, datagram, each, stream, streams


@check(GROUP, "network.host-loopback")
def host_loopback() -> Answer:
    """A listener that the host put up on its own 127.0.0.1 for this run."""
    port = ARGUMENTS.get("host_port")
    if not port:
        return None, "TCP to the host's loopback", "the host put up no listener"
    return each(
        f"TCP to 127.0.0.1 and ::1, port {port}, where the host listens",
        streams(("127.0.0.1", "::1", "127.0.1.1"), port),
    )


@check(GROUP, "network.host-addresses")
def host_addresses() -> Answer:
    """The same listener by the addresses of the host's interfaces (its gateway to containers among them)."""
    port, addresses = ARGUMENTS.get("host_port"), ARGUMENTS.get("host_addresses", [])
    if not port or not addresses:
        return not_here("TCP to the host's own addresses", "the host has no address but loopback")
    return each(
        f"TCP and UDP to {len(addresses)} addresses of the host, port {port}, where it listens",
        [
            *streams(tuple(addresses), port),
            *((f"udp {a}", partial(datagram, socket.AF_INET, (a, port))) for a in addresses),
        ],
    )


@check(GROUP, "network.host-names")
def host_names() -> Answer:
    """Names that engines give to their host."""
    attempts = [
        (name, partial(stream, socket.AF_INET, (name, 80)))
        for name in (
            "host.docker.internal",
            "gateway.docker.internal",
            "host.containers.internal",
            "kubernetes.default.svc",
            "_gateway",
        )
    ]
    return each("resolve and connect to host.docker.internal and its like, kubernetes.default.svc", attempts)


@check(GROUP, "network.abstract-sockets")
def abstract_sockets() -> Answer:
    """Unix sockets without a file live in the network namespace: the host's are reachable if it is shared."""
    names = [
        ARGUMENTS.get("abstract", ""),
        "/containerd-shim/moby/shim.sock",
        "/tmp/.X11-unix/X0",
        "/tmp/dbus-session",
        "/org/kubernetes",
    ]
    reached = []
    for name in names:
        try:
            with socket.socket(socket.AF_UNIX) as link:
                link.settimeout(SECONDS)
                link.connect("\0" + name)
                reached.append("@" + name)
        except OSError:
            continue
    listed = [
        line.split()[-1]
        for line in head_of("/proc/net/unix", 1 << 20).decode("utf-8", "replace").splitlines()[1:]
        if "@" in line
    ]
    host = [
        name
        for name in listed
        if ARGUMENTS.get("abstract", "?") in name or "/systemd/" in name or "containerd-shim" in name
    ]
    bad = [*reached, *host]
    return (
        not bad,
        "connect to a listener of the host's by its abstract name; read /proc/net/unix",
        f"found {bad[:5]}" if bad else f"none reachable, {len(listed)} listed",
    )


@check(GROUP, "network.broadcast")
def broadcast() -> Answer:
    """Who is on the same wire?"""

    def out(address: str) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            link.settimeout(SECONDS)
            link.sendto(b"gate", (address, 1900))
            link.recvfrom(512)

    return each(
        "broadcast 255.255.255.255, multicast 239.255.255.250 (SSDP), 224.0.0.251 (mDNS)",
        [(a, partial(out, a)) for a in ("255.255.255.255", "239.255.255.250", "224.0.0.251")],
    )


@check(GROUP, "network.proxy")
def proxy() -> Answer:
    """A proxy named in the environment would be a way out that direct attempts do not find."""
    named = [name for name in os.environ if name.lower().endswith("_proxy") and name.lower() != "no_proxy"]
    return not named, "proxy variables", f"set: {', '.join(named)}" if named else "none set"


@check(GROUP, "network.change-it")
def change_it() -> Answer:
    """Make an interface of its own, change the routes."""
    import fcntl

    said = []
    attempts: list[tuple[str, Callable[[], object]]] = [
        ("/dev/net/tun", lambda: os.close(os.open("/dev/net/tun", os.O_RDWR)))
    ]

    def route() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            fcntl.ioctl(link, 0x890B, bytes(120))  # SIOCADDRT

    def link_up() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            fcntl.ioctl(link, 0x8914, struct.pack("16sH14x", b"lo", 0x49))  # SIOCSIFFLAGS, as it is

    attempts += [("SIOCADDRT", route), ("SIOCSIFFLAGS", link_up)]
    for name, attempt in attempts:
        try:
            attempt()
            return False, name, "it worked"
        except OSError as error:
            said.append(f"{name}: {error_text(error)}")
    return True, "open /dev/net/tun, add a route, set an interface's flags", "; ".join(said)


@check(GROUP, "network.route-localnet")
def route_localnet() -> Answer:
    """CVE-2020-8558: with it on, loopback services are reachable from next door."""
    value = head_of("/proc/sys/net/ipv4/conf/all/route_localnet").strip()
    return value in (b"0", b""), "/proc/sys/net/ipv4/conf/all/route_localnet", value.decode() or "not there"
