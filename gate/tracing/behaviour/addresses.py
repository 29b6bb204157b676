"""What kind of destination an address is, and its stable name."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Final, Literal

Reach = Literal["loopback", "none", "local", "metadata", "private", "outside"]
"""``none``: no destination at all (unspecified); ``local``: link-local, multicast, broadcast."""

_METADATA: Final = frozenset(
    map(
        ipaddress.ip_address,
        ("169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"),
    )
)
"""Instance metadata services: AWS, Azure, GCP, OpenStack; ECS tasks; AWS over IPv6; Alibaba; Oracle."""
EPHEMERAL: Final = 10_000
"""Ports from here on of this machine itself are taken for chosen by chance."""
# The documentation networks count as outside: tests and samples use them for the real thing.
_DOCUMENTATION: Final = tuple(
    map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
)


@lru_cache(maxsize=10_000)
def reach(text: str) -> Reach:
    """Where an address text leads. Text that is no address counts as outside."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "outside"
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None:
        address = mapped
    if address in _METADATA:
        return "metadata"
    if address.is_loopback:
        return "loopback"
    if address.is_unspecified:
        return "none"
    if any(address.version == net.version and address in net for net in _DOCUMENTATION):
        return "outside"
    if address.is_link_local or address.is_multicast or text == "255.255.255.255":
        return "local"
    return "private" if address.is_private else "outside"


def endpoint_text(text: str, port: int | None) -> str:
    """``203.0.113.7:443``, ``[2001:db8::1]:443``; this machine's own: ``loopback:*``, ``loopback:5432``."""
    if reach(text) in ("loopback", "none"):
        name = "loopback" if reach(text) == "loopback" else "any"
        return f"{name}:{port}" if port and port < EPHEMERAL else f"{name}:*"
    host = f"[{text}]" if ":" in text else text
    return f"{host}:{port}" if port is not None else host
