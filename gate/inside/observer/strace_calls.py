"""What strace printed of one call, as the fields of a trace line: through the same decoders as the
supervisor's, which read the printed arguments as if they were the caller's memory. Standard library only.
"""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Callable, Mapping
from typing import Any

from . import flags, network, strace_line
from .network import HEAD
from .paths import Fields, signed
from .strace_line import Call, UnknownLineError
from .target import AT_FDCWD, Memory, UnreadableError
from .text import text_of

_POINTER = 1 << 63
"""No register value of a program: where a printed argument "lies"."""
_SOCKET = re.compile(rb"socket:\[([0-9]+)\]\Z")
_KEPT = 4096
_OWN_FD = re.compile(r"/proc/(?:self|thread-self)/fd/([0-9]{1,9})\Z")
_LIMITS = ("rlim_cur", "rlim_max")
_HOW = ("flags", "mode", "resolve")


class Printed(Memory):
    """The arguments of one call. ``cwd`` is the caller's working directory, None when it is not known."""

    def __init__(self, call: Call, cwd: bytes | None) -> None:
        self._held: list[Any] = []
        self._paths: dict[int, bytes] = {}
        if cwd is not None:
            self._paths[AT_FDCWD] = cwd
        self.words_of = call.args
        self.args = tuple(self._register(text) for text in call.args) + (0,) * 6

    def _keep(self, value: object) -> int:
        self._held.append(value)
        return _POINTER + len(self._held) - 1

    def _register(self, text: str) -> int:
        """The value of an argument's register, as far as the decoders ask for it. Raises Strange."""
        if text == "NULL":
            return 0
        if text[0:1] in ('"', "@"):
            raw = strace_line.string(text)
            if raw is None:
                raise UnknownLineError("string")
            return self._keep(raw)
        if text.startswith("["):
            return self._keep([self._register(item) for item in strace_line.items(text)])
        if text.startswith("{"):
            return self._keep(text)
        if "<" in text:
            fd, path = strace_line.descriptor(text)
            if path is not None:
                self._paths[fd] = path
            return fd & 0xFFFFFFFF
        if "=" in text:  # clone's arguments have names
            return self._register(text.partition("=")[2])
        return strace_line.number(text) & 0xFFFFFFFFFFFFFFFF

    def held(self, address: int) -> object:
        """What was printed there. Raises UnreadableError where strace gave the address instead."""
        at = address - _POINTER
        if not 0 <= at < len(self._held):
            raise UnreadableError("an address")
        return self._held[at]

    def path_of(self, fd: int) -> bytes | None:
        """The path that strace found behind a descriptor of this call."""
        return self._paths.get(fd)

    def read(self, tid: int, address: int, size: int) -> bytes:  # noqa: ARG002
        """Up to ``size`` (at most 65536) bytes; fewer where mapped memory ends."""
        value = self.held(address)
        if isinstance(value, bytes):
            return value[:size]
        if isinstance(value, str):
            return _packed(value)[:size]
        raise UnreadableError("no bytes")

    def string(self, tid: int, address: int, most: int = 4096) -> bytes:
        """The bytes before the NUL; what is there of it when it is longer than ``most``."""
        return self.read(tid, address, most).split(b"\0", 1)[0]

    def words(self, tid: int, address: int, most: int) -> list[int]:  # noqa: ARG002
        """A NULL-terminated array of pointers, without the NULL, at most ``most``."""
        value = self.held(address)
        if not isinstance(value, list):
            raise UnreadableError("no list")
        return value[:most]

    def directory(self, tid: int, fd: int) -> str:  # noqa: ARG002
        """The path of a directory descriptor of the thread, as trace text; other tracers know it from
        elsewhere.
        """
        return text_of(self._paths.get(fd, b""))

    def resolve(self, tid: int, fd: int, path: bytes) -> bytes:  # noqa: ARG002
        """An absolute path, not normalised."""
        if path.startswith(b"/"):
            return path
        base = self._paths.get(fd)
        if base is None:
            raise UnreadableError("directory")
        return base.rstrip(b"/") + b"/" + path if path else base


def _packed(text: str) -> bytes:
    """A printed structure as the kernel has it, for decoders. Raises UnreadableError, Strange."""
    members = strace_line.fields(text)
    for names in (_LIMITS, _HOW):
        if names[0] in members:
            values = [strace_line.number(members.get(name, "0")) & 0xFFFFFFFFFFFFFFFF for name in names]
            return struct.pack(f"<{len(values)}Q", *values)
    if "sa_family" in members:
        return _address(members)
    raise UnreadableError("a structure")


def _address(members: Mapping[str, str]) -> bytes:
    """``struct sockaddr``."""
    family = strace_line.number(members["sa_family"]) & 0xFFFF
    head = struct.pack("<H", family)
    if family == socket.AF_INET:
        return head + _raw(members, "sin_port", 2) + _raw(members, "sin_addr", 4) + bytes(8)
    if family == socket.AF_INET6:
        return head + _raw(members, "sin6_port", 2) + bytes(4) + _raw(members, "sin6_addr", 16) + bytes(4)
    if family == socket.AF_UNIX:
        return head + (strace_line.string(members.get("sun_path", '""')) or b"")
    if family == socket.AF_NETLINK:
        groups = members.get("nl_groups", "0")
        pid = strace_line.number(members.get("nl_pid", "0")) & 0xFFFFFFFF
        if not re.match(r"(0x)?[0-9a-f]{1,8}\Z", groups):
            raise UnknownLineError("groups")
        return head + struct.pack("<HII", 0, pid, int(groups, 16))
    return head + (strace_line.string(members.get("sa_data", '""')) or bytes(2))


def _raw(members: Mapping[str, str], name: str, size: int) -> bytes:
    raw = strace_line.string(members.get(name, ""))
    if raw is None or len(raw) != size:
        raise UnreadableError("address")
    return raw


class MemoryFiles:
    """Files without a name, by the process that made them and their descriptor. A program that ends at once
    is gone before its ``/proc/self/fd/N`` can be looked up: then this says what it was.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], str] = {}

    def created(self, pid: int, call: Call, name: str) -> None:
        """memfd_create is back."""
        if call.value is not None and call.value >= 0 and len(self._made) < _KEPT:
            self._made[(pid, call.value)] = f"/memfd:{name} (deleted)"

    def opened(self, pid: int, call: Call) -> None:
        """An open is back: the number is another file's now."""
        if self._made and call.value is not None:
            self._made.pop((pid, call.value), None)

    def executed(self, fields: Fields, *pids: int) -> None:
        """Puts the file into an ``exec`` line whose path is still a descriptor (its own or its parent's)."""
        match = _OWN_FD.match(fields["path"]) if self._made else None
        found = [self._made.get((pid, int(match[1]))) for pid in pids] if match else []
        path = next((one for one in found if one), None)
        if path is not None:
            fields.setdefault("asked", fields["path"])
            fields["path"] = path


class Sockets:
    """What is known of sockets by their inode: kind, and where they are connected or bound. Bounded."""

    def __init__(self) -> None:
        self._kinds: dict[bytes, str] = {}
        self._peers: dict[bytes, Fields] = {}
        self._names: dict[bytes, Fields] = {}

    def created(self, call: Call, printed: Printed) -> None:
        """A ``socket`` call that worked."""
        inode = _inode(call.where)
        if inode is not None:
            self._keep(self._kinds, inode, flags.KINDS.get(printed.args[1] & 0xF, ""))

    def fields(self, call: Call, printed: Printed) -> list[Fields]:
        """Fields of the ``net`` lines of one call. Raises UnreadableError, Strange."""
        args, name = printed.args, call.name
        inode = _inode(printed.path_of(signed(args[0])))
        if name in ("connect", "bind"):
            found = self._where(printed, args[1], inode)
            self._keep(self._peers if name == "connect" else self._names, inode, found)
            return [found]
        if name == "listen":
            return [dict(self._names.get(inode or b"", {}))]
        if name == "sendto":
            if args[4] == 0:
                return []  # on a connected socket: its connect was seen
            head = b""
            if args[2] and not isinstance(printed.held(args[1]), list):  # netlink's come decoded
                head = printed.read(0, args[1], HEAD)
            found = self._where(printed, args[4], inode)
            return [found | {"size": min(args[2], 1 << 62), "head": text_of(head)}]
        if name == "sendmsg":
            return [self._message(printed, printed.held(args[1]), inode)]
        return [
            self._message(printed, strace_line.fields(_text(printed.held(word)))["msg_hdr"], inode)
            for word in printed.words(0, args[1], 64)
        ]

    def _where(self, printed: Printed, at: int, inode: bytes | None) -> Fields:
        raw = printed.read(0, at, 128)
        found = network.address_fields(raw)
        if found["family"] == "AF_UNIX" and found["addr"][:1] not in ("/", "@", ""):
            found["addr"] = printed.directory(0, AT_FDCWD) + "/" + found["addr"]
        proto = flags.PROTOS.get((self._kinds.get(inode or b"", ""), found["family"]), "")
        return found | ({"proto": proto} if proto else {})

    def _message(self, printed: Printed, text: object, inode: bytes | None) -> Fields:
        members = strace_line.fields(_text(text))
        name = members.get("msg_name", "NULL")
        found = dict(self._peers.get(inode or b"", {}))
        if name.startswith("{"):
            found = self._where(printed, printed._keep(name), inode)
        head, size = b"", 0
        vectors = members.get("msg_iov", "NULL")
        for item in strace_line.items(vectors) if vectors != "NULL" else []:
            part = strace_line.fields(item)
            size += strace_line.number(part.get("iov_len", "0"))
            head += strace_line.string(part.get("iov_base", '""')) or b""
        return found | {"size": min(size, 1 << 62), "head": text_of(head[:HEAD])}

    def _keep(self, table: dict[bytes, Any], inode: bytes | None, value: object) -> None:
        if inode is not None:
            if len(table) >= _KEPT:
                table.clear()
            table[inode] = value


def _inode(path: bytes | None) -> bytes | None:
    match = _SOCKET.match(path or b"")
    return match[1] if match else None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UnknownLineError("no structure")
    return value


Decoder = Callable[[Printed], list[Fields]]
