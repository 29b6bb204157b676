"""The name a DNS query asks for, from the first bytes of a datagram (RFC 1035, section 4)."""

from __future__ import annotations

from typing import Final

_TYPES: Final = {
    1: "A",
    2: "NS",
    5: "CNAME",
    6: "SOA",
    12: "PTR",
    15: "MX",
    16: "TXT",
    28: "AAAA",
    33: "SRV",
    65: "HTTPS",
}


def query_name(packet: bytes) -> tuple[str, str] | None:
    """(name, type) of the first question, or None when the bytes are no query. Never raises.

    The name is lower-case (resolvers may mix the case to resist spoofing), without the last dot; bytes
    outside printable ASCII are ``?``.
    """
    if len(packet) < 17 or packet[2] & 0x80 or int.from_bytes(packet[4:6], "big") == 0:
        return None
    labels: list[str] = []
    at = 12
    while at < len(packet):
        size = packet[at]
        if size == 0:
            kind = int.from_bytes(packet[at + 1 : at + 3], "big")
            return (".".join(labels) or ".", _TYPES.get(kind, str(kind)))
        label = packet[at + 1 : at + 1 + size]
        if size > 63 or len(label) < size or len(labels) > 127:
            return None
        labels.append("".join(chr(b).lower() if 33 <= b <= 126 and b != 46 else "?" for b in label))
        at += 1 + size
    return None
