"""What a gVisor sentry sends through its remote trace sink, as Python values.

A packet is a header (size u16, message type u16, dropped count u32, little endian) and a protobuf body.
Numbers of types and fields: gVisor, pkg/sentry/seccheck/points/*.proto. Unknown fields are skipped, as
protobuf wants it; anything that does not decode raises ValueError. Strings stay bytes: they come from the
code under test.
"""

from __future__ import annotations

import struct
from typing import Final

_HEADER: Final = struct.Struct("<HHI")

START: Final = 1
CLONE: Final = 2
EXECVE_INFO: Final = 3
EXIT_NOTIFY: Final = 4
RAW: Final = 6
OPEN: Final = 7
CONNECT: Final = 10
EXECVE: Final = 11
PRLIMIT: Final = 16
PIPE: Final = 17
SOCKETPAIR: Final = 33
PAIRS: Final = {PIPE: (4, 5), SOCKETPAIR: (7, 8)}
"""Which fields tell the two descriptors."""
BIND: Final = 24

Fields = dict[int, list[int | bytes]]
"""Field number -> its values, in order: varints as unsigned integers, everything else as bytes."""


def split(packet: bytes) -> tuple[int, int, bytes]:
    """(message type, packets dropped so far, body) of one packet."""
    if len(packet) < _HEADER.size:
        raise ValueError("a packet without a header")
    size, kind, dropped = _HEADER.unpack_from(packet)
    if not _HEADER.size <= size <= len(packet):
        raise ValueError("a header of an impossible size")
    return kind, dropped, packet[size:]


def parse(body: bytes) -> Fields:
    """The fields of one message (protobuf wire format; groups do not exist in version 3)."""
    out: Fields = {}
    at, end = 0, len(body)
    while at < end:
        tag, at = _varint(body, at)
        value: int | bytes
        match tag & 7:
            case 0:
                value, at = _varint(body, at)
            case 2:
                size, at = _varint(body, at)
                value = body[at : at + size]
                at += size
            case 1:
                value = body[at : at + 8]
                at += 8
            case 5:
                value = body[at : at + 4]
                at += 4
            case other:
                raise ValueError(f"wire type {other}")
        if at > end:
            raise ValueError("a message cut short")
        out.setdefault(tag >> 3, []).append(value)
    return out


def _varint(body: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    try:
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, at
            shift += 7
            if shift > 63:
                raise ValueError("a number too long")
    except IndexError:
        raise ValueError("a message cut short") from None


def number(fields: Fields, key: int) -> int:
    """The last value of a number field; 0 where it is absent, as in protobuf."""
    value = fields.get(key, [0])[-1]
    if not isinstance(value, int):
        raise ValueError(f"field {key} is no number")  # the content, not a caller, is wrong
    return value


def text(fields: Fields, key: int) -> bytes:
    """The last value of a string or bytes field; empty where it is absent."""
    value = fields.get(key, [b""])[-1]
    if not isinstance(value, bytes):
        raise ValueError(f"field {key} is no text")
    return value


def texts(fields: Fields, key: int) -> list[bytes]:
    """All values of a repeated string field."""
    values = fields.get(key, [])
    if not all(isinstance(value, bytes) for value in values):
        raise ValueError(f"field {key} is no text")
    return [value for value in values if isinstance(value, bytes)]


def context(fields: Fields) -> Fields:
    """The ContextData that every message carries in field 1."""
    return parse(text(fields, 1))


TIME: Final = 1
THREAD: Final = 2
GROUP: Final = 4
CWD: Final = 8
"""Field numbers of ContextData."""
