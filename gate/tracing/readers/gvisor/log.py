"""Lines of the sentry's strace (its JSON log) to calls with their arguments.

Paths and names in a line are the code's own text, unquoted: where they make a line ambiguous it counts as
not understood; it is never guessed.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from gate.dataclass import dataclass
from gate.inside.observer import flags
from gate.inside.observer.paths import signed
from gate.regex import regex

_LINE: Final = regex(
    r"(?:strace\.go:\d+\] )?\[ *(\d+): *(\d+)\] (.{0,40}?) ([EX]) ([a-z0-9_]+)\((.*)\Z", re.DOTALL
)
_OTHER: Final = regex(r".{0,15} ([EX]) [a-z0-9_]+\(", re.DOTALL)
"""The last that may be a call behind the process's name, which the code chooses (15 bytes at most)."""
_DENIED: Final = regex(r"task_syscall\.go:\d+\] \[ *(\d+): *(\d+)\] Syscall (-?\d+): denied by seccomp\Z")
_NAME: Final = rb"[\w.:+@-]{1,15}"
_IDLE: Final = regex(
    rb'\{"msg":"strace\.go:\d+\] \[ *(?:'
    rb"(?:1: *\d+\] " + _NAME + rb" [EX]|\d+: *\d+\] " + _NAME + rb" X)"  # the launcher's; how it went
    rb" (?:(?:stat|lstat|access|readlink|open|creat|execve)\(0x[0-9a-f]{5,} |openat\(AT_FDCWD "
    rb"|(?:newfstatat|faccessat|readlinkat)\((?:AT_FDCWD|0x[0-9a-f]+) )"
    rb"|\d+: *\d+\] " + _NAME + rb' E newfstatat\(0x[0-9a-f]+ [^,"\\]*, 0x[0-9a-f]+ , 0x[0-9a-f]+, 0x1000\)")'
)
"""Most of the log: questions about paths that say nothing beside their beginnings, and those about an open
descriptor. The code chooses the name: its 15 bytes have no room for what stands here behind a name."""
_RESULT: Final = regex(r"(.*)\) = (-?\d+) \([^()]*\)(?: \([^)]*\))*( errno=\d+.*)?\Z", re.DOTALL)
"""A call that failed "returns" 0, and its error stands behind that."""
_PATH: Final = r"(?:0x[0-9a-f]+ (.*)|<null>)"
_FD: Final = r"(?:AT_FDCWD|-?\w+) ([^\0]*?)"
_NUMBER: Final = r"((?:0[xo])?-?[0-9a-fA-F]+|[A-Z_|0-9a-fx]+)"

DOUBLED: Final = frozenset(("open", "openat", "creat", "execve", "execveat"))
"""Told by packets; the log is for those whose text no packet can hold."""
_SHAPES: Final = {
    "unlink": ("path",),
    "unlinkat": ("dir", "path", "at"),
    "rmdir": ("path",),
    "rename": ("other", "path"),
    "renameat": ("other_dir", "other", "fd_dir", "path"),
    "renameat2": ("other_dir", "other", "fd_dir", "path", "rename"),
    "link": ("other", "path"),
    "linkat": ("other_dir", "other", "fd_dir", "path", "at"),
    "symlink": ("text", "path"),
    "symlinkat": ("text", "dir", "path"),
    "mkdir": ("path", "mode"),
    "mkdirat": ("dir", "path", "mode"),
    "mknod": ("path", "mode", "any"),
    "mknodat": ("dir", "path", "mode", "any"),
    "chmod": ("path", "mode"),
    "fchmod": ("fd", "mode"),
    "fchmodat": ("dir", "path", "mode"),
    "chown": ("path", "uid", "gid"),
    "lchown": ("path", "uid", "gid"),
    "fchown": ("fd", "uid", "gid"),
    "fchownat": ("dir", "path", "uid", "gid", "at"),
    "truncate": ("path", "size"),
    "utime": ("path", "times"),
    "utimes": ("path", "times"),
    "futimesat": ("dir", "path", "times"),
    "utimensat": ("dir", "path", "times", "at"),
    "setxattr": ("path", "text", "any", "any", "any"),
    "lsetxattr": ("path", "text", "any", "any", "any"),
    "fsetxattr": ("fd", "text", "any", "any", "any"),
    "removexattr": ("path", "text"),
    "lremovexattr": ("path", "text"),
    "fremovexattr": ("fd", "text"),
    "stat": ("path", "any"),
    "lstat": ("path", "any"),
    "newfstatat": ("dir", "path", "any", "any"),
    "access": ("path", "any"),
    "faccessat": ("dir", "path", "any", "any"),
    "readlink": ("path", "any", "any"),
    "readlinkat": ("dir", "path", "any", "any"),
    "chdir": ("path",),
    "fchdir": ("fd",),
    "memfd_create": ("path", "memfd"),
    "open": ("path", "any", "any"),
    "openat": ("dir", "path", "any", "any"),
    "creat": ("path", "mode"),
}
_PATTERNS: Final = {
    "path": _PATH,
    "other": _PATH,
    "text": _PATH,
    "any": r"([A-Z_|0-9a-fox]+)",
    "dir": _FD,
    "other_dir": _FD,
    "fd_dir": r"(0x[0-9a-f]+)",
    "fd": r"(?:AT_FDCWD|-?\w+) (.*)",
    "mode": r"([A-Z_|]*0[xo][0-9a-f]+)",
    "times": r"(0x[0-9a-f]+ \{[^/]*\}|0x[0-9a-f]+|null)",
}
_MODE_BITS: Final = {
    "S_ISUID": stat.S_ISUID,
    "S_ISGID": stat.S_ISGID,
    "S_ISVTX": stat.S_ISVTX,
    "S_IFREG": stat.S_IFREG,
    "S_IFIFO": stat.S_IFIFO,
    "S_IFSOCK": stat.S_IFSOCK,
    "S_IFDIR": stat.S_IFDIR,
    "S_IFCHR": stat.S_IFCHR,
    "S_IFBLK": stat.S_IFBLK,
    "S_IFLINK": stat.S_IFLNK,
}
"""As gVisor spells them (pkg/abi/linux/file.go)."""
_ADDRESS: Final = regex(r"\{Family: (AF_\w+), Addr: ([^{}]*?)(?:, Port: (\d+))?(?:, [^{}]*)?\}")
_UNIX: Final = regex(r"\{Family: AF_UNIX, Addr: (.*?)\}, 0x[0-9a-f]+\Z", re.DOTALL)
_NETLINK: Final = regex(r"\{Family: AF_NETLINK, PortID: (\d+), Groups: (\d+)\}")
_NO_ADDRESS: Final = regex(r", (?:null|0x0), 0x[0-9a-f]+\Z")
_RIGHTS: Final = regex(r"\{level=SOL_SOCKET, type=SCM_RIGHTS,")
_FIRST: Final = regex(r"0x([0-9a-f]{1,8}) ")
_DATA: Final = regex(r'"(?:[^"\\]|\\.)*"')
"""What is sent, quoted: the code's own, and may look like an address."""
_LENGTHS: Final = regex(r"\{base=0x[0-9a-f]+, len=(\d+)")


class _Record(msgspec.Struct):
    msg: str = ""
    time: str = ""


_AT_FDCWD: Final = -100
_DECODER: Final = msgspec.json.Decoder(_Record)


@dataclass(frozen=True, slots=True)
class Logged:
    """One line. ``result``: None for a call's beginning, -1 where it failed; ``time`` as written."""

    group: int
    thread: int
    call: str
    arguments: str
    result: int | None
    time: str = ""


class AmbiguousLineError(ValueError):
    """The line says something, but not for certain what."""


def read(line: bytes) -> Logged | None:
    """A log line as a call; None for another kind of line. Raises AmbiguousLineError for damage."""
    try:
        record = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AmbiguousLineError("no JSON line") from error
    message = record.msg
    match = _LINE.match(message)
    if match is None:
        if message.startswith("strace.go"):
            raise AmbiguousLineError("no strace line")
        return None
    group, thread, _, way, call, rest = match.groups()
    other = _OTHER.match(message, match.start(3))
    if other is not None and other.start(1) != match.start(4):
        raise AmbiguousLineError("a name that looks like a call")
    if way == "E":
        if not rest.endswith(")"):
            raise AmbiguousLineError("an open end")
        return Logged(int(group), int(thread), call, rest[:-1], None, record.time)
    ended = _RESULT.match(rest)
    if ended is None:
        raise AmbiguousLineError("no result")
    result = -1 if ended[3] else int(ended[2])
    return Logged(int(group), int(thread), call, ended[1], result, record.time)


def apart(lines: bytes) -> bytes:
    """Each line by itself. The sentry writes a line and its end one after the other, so that lines of several
    threads come joined, and then their ends. No text in a line looks so: its quotes are escaped.
    """
    return lines.replace(b'}{"msg":"', b'}\n{"msg":"')


def idle(line: bytes) -> bool:
    """Is it certain, without reading it, that this line adds nothing?"""
    return _IDLE.match(line) is not None


def moment(logged: Logged) -> int:
    """When the line was written, nanoseconds since 1970. Raises AmbiguousLineError where it does not say."""
    whole, _, part = logged.time.removesuffix("Z").partition(".")
    try:
        seconds = datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp()
        return int(seconds) * 10**9 + int(part.ljust(9, "0")[:9] or 0)
    except ValueError as error:
        raise AmbiguousLineError("no time") from error


def denied(line: bytes) -> tuple[int, int, int] | None:
    """(group, thread, number) of a call that a filter answered; None for a line that tells something else."""
    try:
        match = _DENIED.match(_DECODER.decode(line).msg)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AmbiguousLineError("no JSON line") from error
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def named(logged: Logged) -> dict[str, str]:
    """The arguments by what they mean. Raises AmbiguousLineError where the text allows two readings."""
    shape = _SHAPES.get(logged.call)
    if shape is None:
        raise AmbiguousLineError(f"no shape for {logged.call}")
    greedy = re.fullmatch(_expression(shape, greedy=True), logged.arguments, re.DOTALL)
    lazy = re.fullmatch(_expression(shape, greedy=False), logged.arguments, re.DOTALL)
    if greedy is None or lazy is None or greedy.groups() != lazy.groups():
        raise AmbiguousLineError(f"{logged.call} can be read in two ways")
    return dict(zip(shape, (text or "" for text in greedy.groups()), strict=True))


def folder(path: str, fd_dir: str, cwd: Callable[[], str], fd: Callable[[int], str]) -> str:
    """Where a relative ``path`` of ``named`` begins that came without its folder. Some calls give only a
    number for it (``fd_dir``): ``fd`` tells which file that is. Raises AmbiguousLineError.
    """
    if path.startswith("/"):
        return "/"
    number = signed(int(fd_dir, 16)) if fd_dir else _AT_FDCWD
    found = cwd() if number == _AT_FDCWD else fd(number)
    if not found:
        raise AmbiguousLineError("a folder nobody told of")
    return found


def _expression(shape: tuple[str, ...], *, greedy: bool) -> str:
    parts = [_PATTERNS.get(name, _NUMBER) for name in shape]
    text = ", ".join(parts)
    return text.replace("*?)", "*)") if greedy else text.replace("(.*)", "(.*?)")


def integer(text: str) -> int:
    """``0x1``, ``0o777``, ``12``; of a mode, ``S_ISUID|0o755``. Raises AmbiguousLineError for other names."""
    *names, rest = text.split("|")
    try:
        return sum(_MODE_BITS[name] for name in names) + int(rest, 0)
    except (KeyError, ValueError) as error:
        raise AmbiguousLineError("no number") from error


def numbers(where: dict[str, str]) -> dict[str, Any]:
    """Mode, owner, size and flags among the arguments of ``named``."""
    fields: dict[str, Any] = {}
    for key in ("mode", "uid", "gid", "size"):
        if key in where:
            value = integer(where[key])
            fields[key] = signed(value) if key in ("uid", "gid") else value
    if where.get("at", "0x0") != "0x0":
        fields["flags"] = flags.names(integer(where["at"]), flags.AT)
    return fields


def sent(logged: Logged) -> dict[str, Any]:
    """Fields of a ``net`` line for sendto, sendmsg, sendmmsg: where to, and how much."""
    fields: dict[str, Any] = {}
    said = logged.arguments
    if logged.call == "sendto":
        parts = logged.arguments.split(", ")
        if len(parts) > 3 and parts[2].startswith("0x"):
            fields["size"] = min(int(parts[2], 16), 1 << 62)
    else:
        said = _DATA.sub('""', said)
        fields["size"] = sum(map(int, _LENGTHS.findall(said)))
    if unix := _UNIX.search(said):
        return fields | {"family": "AF_UNIX", "addr": unix[1].strip('"')}
    if found := _NETLINK.search(said):
        return fields | {"family": "AF_NETLINK", "addr": f"{found[1]}:{found[2]}"}
    if found := _ADDRESS.search(said):
        fields |= {"family": found[1], "addr": found[2]}
        if found[3]:
            fields["port"] = int(found[3])
    return fields


def descriptor(logged: Logged) -> int:
    """The number that a ``send`` call was given; -1 for none."""
    found = _FIRST.match(logged.arguments)
    return int(found[1], 16) if found else -1


def passes_descriptors(logged: Logged, *, inet: bool) -> bool:
    """A message that gives descriptors to whoever reads it, or may: what ``sendmmsg`` sends is not told.
    ``inet``: its socket is known, and no Unix one.
    """
    return _RIGHTS.search(_DATA.sub('""', logged.arguments)) is not None or (
        logged.call == "sendmmsg" and not inet
    )


def addressed(logged: Logged) -> bool:
    """A ``sendto`` that names where to; without, its socket is connected, and that was seen."""
    return _NO_ADDRESS.search(logged.arguments) is None


def memfd_flags(text: str) -> str:
    """Names of memfd_create's flags."""
    return flags.names(integer(text), flags.MEMFD)
