"""The first words of a TLS connection: which name is wanted.

Standard library only; the egress proxy reads it, too.
"""

from __future__ import annotations


def looks_like_tls(data: bytes) -> bool:
    """A record that begins a handshake (RFC 8446, 5.1)."""
    return len(data) >= 3 and data[0] == 0x16 and data[1] == 3


def server_name(data: bytes) -> str | None:
    """The name wanted by a ClientHello (RFC 6066, 3): empty when it says none, None when more bytes are
    needed or it is none that can be read. Never raises.
    """
    if len(data) < 5:
        return None
    hello = b""
    at = 0
    while at + 5 <= len(data) and data[at] == 0x16:
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        hello += data[at + 5 : at + 5 + size]
        at += 5 + size
    if len(hello) < 4 or hello[0] != 1 or len(hello) < 4 + int.from_bytes(hello[1:4], "big"):
        return None
    at = 4 + 2 + 32
    at += 1 + _int(hello, at, 1)
    at += 2 + _int(hello, at, 2)
    at += 1 + _int(hello, at, 1)
    end = min(len(hello), at + 2 + _int(hello, at, 2))
    at += 2
    while at + 4 <= end:
        kind, size = _int(hello, at, 2), _int(hello, at + 2, 2)
        if kind == 0:
            length = _int(hello, at + 7, 2)
            raw = hello[at + 9 : at + 9 + length]
            return "".join(chr(b).lower() if 33 <= b <= 126 else "?" for b in raw)[:255]
        at += 4 + size
    return ""


def _int(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")
