"""The filter that the launcher puts on the code inside gVisor, where no supervisor can be asked.

gVisor has no user notification, and its kernel would carry out some of what the other walls refuse (new user
namespaces, keyrings, ptrace, the memory of other processes). The filter answers these with an errno. gVisor
checks filters before its trace points, so that such a call leaves no packet; its log has a line for each
(``Syscall N: denied by seccomp``), from which gate/trace/seccheck.py makes the attempt, with its number and
without its arguments. Kernel interface: uapi linux/seccomp.h, linux/filter.h; gVisor: pkg/sentry/kernel.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from typing import Any, Final

from gate.errors import CouldNotLook
from gate.sandbox.observer import flags, table
from gate.sandbox.observer.numbers import AUDIT_ARCH, NAMES, numbers

_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_LOAD, _AND, _JEQ, _JGE, _JSET, _RET = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH, _ARGS = 0, 4, 16
Code = list[tuple[int, int, int, int]]
_IFMT, _IFCHR, _IFBLK = 0xF000, 0x2000, 0x6000


def _refuse(error: int) -> tuple[int, int, int, int]:
    return (_RET, 0, 0, _ERRNO | error)


def _no_device(arg: int) -> Code:
    """mknod: files and pipes yes, devices no."""
    return [
        (_LOAD, 0, 0, _low(arg)),
        (_AND, 0, 0, _IFMT),
        (_JEQ, 1, 0, _IFCHR),
        (_JEQ, 0, 1, _IFBLK),
        _refuse(errno.EPERM),
        (_RET, 0, 0, _ALLOW),
    ]


def _low(arg: int) -> int:
    return _ARGS + 8 * arg  # little endian, as both architectures we know


_BY_VALUE: Final[dict[str, Code]] = {
    # personality(0xffffffff) only asks
    "personality": [
        (_LOAD, 0, 0, _low(0)),
        (_JEQ, 1, 0, 0xFFFFFFFF),
        _refuse(errno.EPERM),
        (_RET, 0, 0, _ALLOW),
    ],
    "clone": [
        (_LOAD, 0, 0, _low(0)),
        (_JSET, 0, 1, flags.NEW_NAMESPACES),
        _refuse(errno.EPERM),
        (_RET, 0, 0, _ALLOW),
    ],
    # a filter with a listener of its own is refused by the other tracer, too
    "seccomp": [
        (_LOAD, 0, 0, _low(0)),
        (_JEQ, 0, 3, 1),
        (_LOAD, 0, 0, _low(1)),
        (_JSET, 0, 1, 8),
        _refuse(errno.EBUSY),
        (_RET, 0, 0, _ALLOW),
    ],
    # gVisor lets anybody raise a priority (which does nothing in it)
    "setpriority": [
        (_LOAD, 0, 0, _low(2)),
        (_JGE, 0, 1, 0x80000000),
        _refuse(errno.EACCES),
        (_RET, 0, 0, _ALLOW),
    ],
    "mknod": _no_device(1),
    "mknodat": _no_device(2),
}
"""Calls that are refused by a value in a register: what comes after the number was found to be theirs."""


def answer(name: str) -> int:
    """The errno that a denied call gets. ``name`` as in the table, or syscall_N."""
    if name == "seccomp":
        return errno.EBUSY
    return errno.EPERM if name in table.REFUSED or name in _BY_VALUE else errno.ENOSYS


def told(number: int, names: Mapping[int, str]) -> tuple[str, dict[str, Any]] | None:
    """The call's name and the fields of an ``attempt`` line for a number that the filter answered; None where
    that is nothing to tell of.
    """
    number &= 0xFFFFFFFF
    foreign = bool(number & table.X32_BIT) and platform.machine() == "x86_64"
    number = number & ~table.X32_BIT if foreign else number
    name = names.get(number, f"syscall_{number}")
    if name in table.UNSUPPORTED | table.SILENT and not foreign:
        return None  # libc falls back, and that is seen; a priority is nothing to tell of
    error = errno.errorcode[errno.ENOSYS if foreign else answer(name)]
    fields = {"number": number, "detail": "", "denied": True, "errno": error}
    return name, fields | ({"abi": "x32"} if foreign else {})


def program(arch: str | None = None) -> bytes:
    """The filter as an array of ``struct sock_filter`` (8 bytes each, little endian).

    A list of what is refused: what gVisor does not have fails in it all the same, and numbers that no table
    of ours knows are refused only so that its log tells of them. Raises CouldNotLook without a table.
    """
    arch = arch or platform.machine()
    if arch not in NAMES:
        raise CouldNotLook(
            f"no system call table for {arch}",
            advice="Tracing in gVisor works on x86_64 and aarch64; choose another backend.",
        )
    known = numbers(arch)
    code: Code = [
        (_LOAD, 0, 0, _ARCH),
        (_JEQ, 1, 0, AUDIT_ARCH[arch]),
        (_RET, 0, 0, _ERRNO | errno.EPERM),
        (_LOAD, 0, 0, _NR),
        (_JGE, 0, 1, max(known.values()) + 1),  # x32 too: its bit makes a number that is larger
        (_RET, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    for name, number in sorted(known.items(), key=lambda item: item[1]):
        if name in _BY_VALUE:
            test = _BY_VALUE[name]
            code += [(_JEQ, 0, len(test), number), *test]
        elif name in table.REFUSED or name in table.UNSUPPORTED:
            code += [(_JEQ, 0, 1, number), (_RET, 0, 0, _ERRNO | answer(name))]
    for number in _gaps(set(known.values())):
        code += [(_JEQ, 0, 1, number), (_RET, 0, 0, _ERRNO | errno.ENOSYS)]
    code.append((_RET, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *line) for line in code)


def _gaps(known: set[int]) -> list[int]:
    """Numbers in no table, below the largest that is in one."""
    return [number for number in range(max(known)) if number not in known]
