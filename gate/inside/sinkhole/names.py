"""Answers every question of the name system, and remembers which address stands for which name.

Packets by RFC 1035; anything that is no question gets no answer. Addresses: 198.18.0.0/15 (benchmarks,
RFC 2544) and 2001:db8::/32 (documentation, RFC 3849), chosen by the name's own digest so that two runs agree.
"""

from __future__ import annotations

import hashlib
import ipaddress
import socket
import struct

TYPES = {
    1: "A",
    2: "NS",
    5: "CNAME",
    6: "SOA",
    12: "PTR",
    15: "MX",
    16: "TXT",
    28: "AAAA",
    33: "SRV",
    64: "SVCB",
    65: "HTTPS",
    255: "ANY",
    257: "CAA",
}
_FIRST = int(ipaddress.IPv4Address("198.18.0.0"))
_FIRST6 = int(ipaddress.IPv6Address("2001:db8:5ca1::"))
_SPACE = (1 << 17) - 2
_MOST = 20_000
_TTL = 60


class Names:
    """Names and their addresses, each name its own; past 20,000 names all share the last address."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._name: dict[int, str] = {}

    def number(self, name: str) -> int:
        """The name's place in both address ranges."""
        known = self._number.get(name)
        if known is not None:
            return known
        if len(self._number) >= _MOST:
            return _SPACE
        at = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") % (_SPACE - 1) + 1
        while at in self._name:
            at = at % (_SPACE - 1) + 1
        self._number[name], self._name[at] = at, name
        return at

    def address(self, name: str, family: int) -> bytes:
        """The packed address of a name. ``localhost`` is this machine."""
        four = family == socket.AF_INET
        if name == "localhost" or name.endswith(".localhost"):
            return socket.inet_pton(family, "127.0.0.1" if four else "::1")
        at = self.number(name)
        return (_FIRST + at).to_bytes(4, "big") if four else (_FIRST6 + at).to_bytes(16, "big")

    def name_of(self, text: str) -> str:
        """The name that an address was given for; empty when none was."""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return ""
        first = _FIRST if address.version == 4 else _FIRST6
        return self._name.get(int(address) - first, "")


class Question:
    """One question: ``name`` for people and as a key (lower-case, odd bytes as ``?``), ``raw`` as asked."""

    def __init__(self, raw: bytes, name: str, kind: int, wire: bytes) -> None:
        self.raw, self.name, self.kind, self.wire = raw, name, kind, wire

    @property
    def qtype(self) -> str:
        """``A``, or the number as text."""
        return TYPES.get(self.kind, str(self.kind))


def question(packet: bytes) -> Question | None:
    """The first question of a query; None when the bytes are none. Never raises."""
    if len(packet) < 17 or packet[2] & 0x80 or int.from_bytes(packet[4:6], "big") == 0:
        return None
    labels: list[bytes] = []
    at = 12
    while at < len(packet):
        size = packet[at]
        if size == 0:
            end = at + 5
            if end > len(packet):
                return None
            name = ".".join(map(_shown, labels)) or "."
            kind = int.from_bytes(packet[at + 1 : at + 3], "big")
            return Question(b".".join(labels), name, kind, packet[12:end])
        label = packet[at + 1 : at + 1 + size]
        if size > 63 or len(label) < size or len(labels) > 127:
            return None
        labels.append(label)
        at += 1 + size
    return None


def _shown(label: bytes) -> str:
    return "".join(chr(b).lower() if 33 <= b <= 126 and b != 46 else "?" for b in label)


def reply(packet: bytes, asked: Question, names: Names) -> bytes:
    """A plausible answer to the question."""
    data = _answer(asked, names)
    recursion = packet[2] & 0x01
    opcode = packet[2] & 0x78
    head = (
        packet[:2] + bytes([0x80 | opcode | recursion, 0x80]) + struct.pack(">HHHH", 1, int(bool(data)), 0, 0)
    )
    if not data:
        return head + asked.wire
    record = b"\xc0\x0c" + asked.wire[-4:-2] + struct.pack(">HIH", 1, _TTL, len(data)) + data
    return head + asked.wire + record


def _answer(asked: Question, names: Names) -> bytes:
    """The record's data; empty: the name exists and has no record of this type."""
    pointer = b"\xc0\x0c"
    if asked.kind == 1:
        return names.address(asked.name, socket.AF_INET)
    if asked.kind == 28:
        return names.address(asked.name, socket.AF_INET6)
    if asked.kind == 16:
        return b"\x0bv=spf1 -all"
    if asked.kind == 15:
        return struct.pack(">H", 10) + b"\x04mail" + pointer
    if asked.kind == 2:
        return b"\x03ns1" + pointer
    if asked.kind == 33:
        return struct.pack(">HHH", 0, 0, 443) + pointer
    if asked.kind == 6:
        return (
            b"\x03ns1"
            + pointer
            + b"\x0ahostmaster"
            + pointer
            + struct.pack(">IIIII", 1, 3600, 600, 86400, 60)
        )
    if asked.kind == 12:
        return b"\x04host\x07example\x00"
    return b""
