"""Decoding of socket calls: addresses, kinds, first bytes. Standard library only."""

from __future__ import annotations

import socket
import struct
from typing import Any

from . import flags
from .paths import Args, Fields, signed
from .target import AT_FDCWD, Memory, UnreadableError, borrow_socket, directory
from .text import text_of

HEAD = 256
_MESSAGES = 64


def socket_fields(args: Args) -> Fields:
    """Fields of a ``socket`` line (register values only)."""
    family, kind = signed(args[0]), args[1] & 0xFF & ~0xF0
    return {
        "family": flags.FAMILIES.get(family, str(family)),
        "kind": flags.KINDS.get(kind, str(kind)),
        "proto": signed(args[2]),
    }


def address_fields(raw: bytes, tid: int = 0) -> Fields:
    """Family, addr and port of a ``struct sockaddr``. Raises UnreadableError when it is too short."""
    if len(raw) < 2:
        raise UnreadableError("address")
    number = int.from_bytes(raw[:2], "little")
    fields: Fields = {"family": flags.FAMILIES.get(number, str(number))}
    try:
        if number == socket.AF_INET:
            fields.update(
                port=struct.unpack_from(">H", raw, 2)[0], addr=socket.inet_ntop(socket.AF_INET, raw[4:8])
            )
        elif number == socket.AF_INET6:
            fields.update(
                port=struct.unpack_from(">H", raw, 2)[0], addr=socket.inet_ntop(socket.AF_INET6, raw[8:24])
            )
        elif number == socket.AF_UNIX:
            fields["addr"] = _unix(raw[2:], tid)
        elif number == socket.AF_NETLINK:
            fields["addr"] = "{}:{}".format(*struct.unpack_from("<II", raw, 4))
        elif number == 40:  # AF_VSOCK: reserved u16, port u32, cid u32
            fields["port"], cid = struct.unpack_from("<II", raw, 4)
            fields["addr"] = str(cid)
        elif number != 0:
            fields["addr"] = raw[2:128].hex()
    except (struct.error, ValueError) as error:
        raise UnreadableError("address") from error
    return fields


def _unix(raw: bytes, tid: int) -> str:
    if not raw:
        return ""
    if raw[0] == 0:
        return "@" + text_of(raw[1:])
    path = raw.split(b"\0", 1)[0]
    base = "" if path.startswith(b"/") or not tid else directory(tid, AT_FDCWD) + "/"
    return base + text_of(path)


def net_fields(memory: Memory, pid: int, tid: int, name: str, args: Args) -> list[Fields]:
    """Fields of the ``net`` lines of one call (more than one only for sendmmsg)."""
    fd = signed(args[0])
    if name in ("connect", "bind"):
        found = address_fields(memory.exactly(tid, args[1], min(args[2] & 0xFFFFFFFF, 128)), tid)
        return [found | _proto(pid, fd, found["family"])]
    if name == "listen":
        return [_names(pid, fd, peer=False)]
    if name == "sendto":
        found = address_fields(memory.exactly(tid, args[4], min(args[5] & 0xFFFFFFFF, 128)), tid)
        head = memory.read(tid, args[1], min(args[2], HEAD)) if args[2] else b""
        return [found | _proto(pid, fd, found["family"]) | {"size": _cap(args[2]), "head": text_of(head)}]
    if name == "sendmsg":
        return [_message(memory, pid, tid, fd, args[1])]
    count = min(args[2] & 0xFFFFFFFF, _MESSAGES)
    return [_message(memory, pid, tid, fd, args[1] + 64 * i) for i in range(count)]


def _message(memory: Memory, pid: int, tid: int, fd: int, at: int) -> Fields:
    """One ``struct msghdr``: where to, how much, how it begins."""
    name, length, vectors, count = struct.unpack_from("<QI4xQQ", memory.exactly(tid, at, 56))
    if name and length:
        found = address_fields(memory.exactly(tid, name, min(length, 128)), tid)
        found |= _proto(pid, fd, found["family"])
    else:
        found = _names(pid, fd, peer=True)
    head, size = bytearray(), 0
    used = min(count, 64)
    raw = memory.exactly(tid, vectors, 16 * used) if used else b""
    for base, part in struct.iter_unpack("<QQ", raw):
        size += part
        if part and len(head) < HEAD:
            head += memory.read(tid, base, min(part, HEAD - len(head)))
    return found | {"size": _cap(size), "head": text_of(bytes(head))}


def _cap(size: int) -> int:
    return min(size, 1 << 62)


def _proto(pid: int, fd: int, family: str) -> Fields:
    """What kind of socket it is, where it may be looked at."""
    sock = borrow_socket(pid, fd)
    if sock is None:
        return {}
    with sock:
        kind = flags.KINDS.get(sock.type & 0xF, "")
    proto = flags.PROTOS.get((kind, family), "")
    return {"proto": proto} if proto else {}


def _names(pid: int, fd: int, *, peer: bool) -> Fields:
    """The address a socket is bound or connected to; empty where it has none or may not be looked at."""
    sock = borrow_socket(pid, fd)
    if sock is None:
        return {}
    with sock:
        family = flags.FAMILIES.get(int(sock.family), str(int(sock.family)))
        fields: Fields = {"family": family}
        proto = flags.PROTOS.get((flags.KINDS.get(sock.type & 0xF, ""), family), "")
        if proto:
            fields["proto"] = proto
        try:
            name: Any = sock.getpeername() if peer else sock.getsockname()
        except OSError:
            return fields
    if family in ("AF_INET", "AF_INET6"):
        fields.update(addr=name[0].partition("%")[0], port=name[1])
    elif family == "AF_UNIX":
        raw = name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")
        fields["addr"] = _unix(raw, 0)
    return fields
