"""Decoding of calls that name files: which argument is what, as a table. Standard library only."""

from __future__ import annotations

import struct
from typing import Any

from . import flags
from .links import Links
from .target import AT_FDCWD, Memory, UnreadableError
from .text import text_of

Fields = dict[str, Any]
Args = tuple[int, ...]
Where = tuple[Any, Any]
_FD = "fd"  # the path is that of an open descriptor
_CWD = None  # relative to the working directory

# call: (directory argument, path argument), further fields by argument number.
_FILE: dict[str, tuple[Where, Fields]] = {
    "unlink": ((_CWD, 0), {}),
    "unlinkat": ((0, 1), {"at": 2}),
    "rmdir": ((_CWD, 0), {}),
    "rename": ((_CWD, 1), {"old": (_CWD, 0)}),
    "renameat": ((2, 3), {"old": (0, 1)}),
    "renameat2": ((2, 3), {"old": (0, 1), "rename": 4}),
    "link": ((_CWD, 1), {"old": (_CWD, 0)}),
    "linkat": ((2, 3), {"old": (0, 1), "at": 4}),
    "symlink": ((_CWD, 1), {"text": 0}),
    "symlinkat": ((1, 2), {"text": 0}),
    "mkdir": ((_CWD, 0), {"mode": 1}),
    "mkdirat": ((0, 1), {"mode": 2}),
    "mknod": ((_CWD, 0), {"mode": 1}),
    "mknodat": ((0, 1), {"mode": 2}),
    "chmod": ((_CWD, 0), {"mode": 1}),
    "fchmod": ((_FD, 0), {"mode": 1}),
    "fchmodat": ((0, 1), {"mode": 2}),
    "fchmodat2": ((0, 1), {"mode": 2, "at": 3}),
    "chown": ((_CWD, 0), {"uid": 1, "gid": 2}),
    "lchown": ((_CWD, 0), {"uid": 1, "gid": 2}),
    "fchown": ((_FD, 0), {"uid": 1, "gid": 2}),
    "fchownat": ((0, 1), {"uid": 2, "gid": 3, "at": 4}),
    "truncate": ((_CWD, 0), {"size": 1}),
    "utime": ((_CWD, 0), {}),
    "utimes": ((_CWD, 0), {}),
    "futimesat": ((0, 1), {}),
    "utimensat": ((0, 1), {"at": 3}),
    "setxattr": ((_CWD, 0), {"text": 1}),
    "lsetxattr": ((_CWD, 0), {"text": 1}),
    "fsetxattr": ((_FD, 0), {"text": 1}),
    "setxattrat": ((0, 1), {"at": 2, "text": 3}),
    "removexattr": ((_CWD, 0), {"text": 1}),
    "lremovexattr": ((_CWD, 0), {"text": 1}),
    "fremovexattr": ((_FD, 0), {"text": 1}),
    "removexattrat": ((0, 1), {"at": 2, "text": 3}),
    "file_setattr": ((0, 1), {"at": 4}),
}
_LOOK: dict[str, Where] = {
    "stat": (_CWD, 0),
    "lstat": (_CWD, 0),
    "access": (_CWD, 0),
    "readlink": (_CWD, 0),
    "chdir": (_CWD, 0),
    "fchdir": (_FD, 0),
    "newfstatat": (0, 1),
    "statx": (0, 1),
    "faccessat": (0, 1),
    "faccessat2": (0, 1),
    "readlinkat": (0, 1),
}
_FOLLOWING = frozenset(
    ["chmod", "fchmodat", "chown", "truncate", "utime", "utimes", "futimesat", "setxattr", "removexattr"]
)
"""Calls that change what a link leads to, not the link."""
_IN_PLACE = frozenset(("truncate", "utime", "utimes", "futimesat", "utimensat"))
RESHAPING = frozenset(_FILE) - _IN_PLACE
"""Calls after which a path may lead elsewhere, or may be looked up at all (modes, owners, access lists)."""
_RESOLVE_IN_ROOT = 0x10
_O_NOFOLLOW = next(bit for bit, name in flags.OPEN.items() if name == "O_NOFOLLOW")


def signed(value: int) -> int:
    """The low half of a register as a C int."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def path_at(memory: Memory, tid: int, args: Args, where: Where, links: Links | None, *, follow: bool) -> str:
    """The absolute path that a (directory, path) pair of arguments names, without links where
    ``links`` is given. Raises UnreadableError.
    """
    base, at = where
    if base == _FD:
        found = memory.directory(tid, signed(args[at]))
        if not found:
            raise UnreadableError("descriptor")
        return found
    fd = AT_FDCWD if base is None else signed(args[base])
    if args[at] == 0:  # NULL: the directory descriptor itself (utimensat), or a bad call
        return memory.directory(tid, fd) if fd >= 0 else ""
    path = memory.resolve(tid, fd, memory.string(tid, args[at]))
    real = None if links is None else links.real(tid, path, follow=follow)
    return text_of(real or path)


def open_fields(memory: Memory, links: Links, tid: int, name: str, args: Args) -> Fields:
    """Fields of an ``open`` line."""
    resolve_in = 0
    if name == "openat":
        fd, at, bits, mode = signed(args[0]), args[1], args[2], args[3]
    elif name == "open":
        fd, at, bits, mode = AT_FDCWD, args[0], args[1], args[2]
    elif name == "creat":
        fd, at, bits, mode = AT_FDCWD, args[0], 0o1101, args[1]
    else:
        fd, at = signed(args[0]), args[1]
        bits, mode, resolve_in = struct.unpack("<QQQ", memory.exactly(tid, args[2], 24))
    bits &= 0xFFFFFFFF
    access, named = flags.opened(bits)
    fields: Fields = {"path": "", "access": access}
    if named:
        fields["flags"] = named
    if bits & 0o100 or bits & 0o20000000 == 0o20000000:
        fields["mode"] = mode & 0o7777
    if at:
        raw = memory.string(tid, at)
        if resolve_in & _RESOLVE_IN_ROOT:
            raw = raw.lstrip(b"/")
        asked = memory.resolve(tid, fd, raw)
        real = links.real(tid, asked, follow=not bits & _O_NOFOLLOW)
        if real is not None:
            fields["asked"] = text_of(asked)
        fields["path"] = text_of(real or asked)
    return fields


def look_fields(memory: Memory, tid: int, name: str, args: Args) -> Fields:
    """Fields of a ``look`` line."""
    return {"path": path_at(memory, tid, args, _LOOK[name], None, follow=True)}


def file_fields(memory: Memory, links: Links, tid: int, name: str, args: Args) -> Fields:
    """Fields of a ``file`` line."""
    where, more = _FILE[name]
    fields: Fields = {"path": path_at(memory, tid, args, where, links, follow=name in _FOLLOWING)}
    for key, value in more.items():
        if key == "old":
            fields["other"] = path_at(memory, tid, args, value, links, follow=False)
        elif key == "text":
            fields["other"] = text_of(memory.string(tid, args[value])) if args[value] else ""
        elif key == "mode":
            fields["mode"] = args[value] & 0xFFFF
        elif key == "size":
            fields["size"] = args[value] - (1 << 64) if args[value] >> 63 else args[value]
        elif key in ("at", "rename"):
            named = flags.names(args[value] & 0xFFFFFFFF, flags.AT if key == "at" else flags.RENAME)
            if named:
                fields["flags"] = named
        else:
            fields[key] = signed(args[value])
    return fields
