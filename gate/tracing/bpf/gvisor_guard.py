"""The filter that the launcher puts on the code inside gVisor, where no supervisor can be asked.

gVisor has no user notification, and its kernel would carry out some of what other backends refuse (new user
namespaces, keyrings, ptrace, the memory of other processes). The filter answers these with an errno. gVisor
checks filters before its trace points, so that such a call leaves no packet; its log has a line for each
(``Syscall N: denied by seccomp``), from which gate/tracing/readers/gvisor/translator.py makes the attempt,
with its number and without its arguments. Kernel interface: uapi linux/seccomp.h, linux/filter.h; gVisor:
pkg/sentry/kernel.
"""

from __future__ import annotations

import errno
import platform
from collections.abc import Mapping
from typing import Any, Final

from gate.inside.observer import flags, table
from gate.inside.observer.numbers import numbers
from gate.tracing.bpf.assembler import (
    AND,
    JEQ,
    JGE,
    JSET,
    LOAD,
    RET_ALLOW,
    Code,
    if_bits,
    known_arch,
    low,
    on_arch,
    packed,
    refuse,
    ret,
)

_IFMT, _IFCHR, _IFBLK = 0xF000, 0x2000, 0x6000


def _no_device(arg: int) -> Code:
    """mknod: files and pipes yes, devices no."""
    return [
        (LOAD, 0, 0, low(arg)),
        (AND, 0, 0, _IFMT),
        (JEQ, 1, 0, _IFCHR),
        (JEQ, 0, 1, _IFBLK),
        *refuse(errno.EPERM),
        *ret(RET_ALLOW),
    ]


_BY_VALUE: Final[dict[str, Code]] = {
    # personality(0xffffffff) only asks
    "personality": [
        (LOAD, 0, 0, low(0)),
        (JEQ, 1, 0, 0xFFFFFFFF),
        *refuse(errno.EPERM),
        *ret(RET_ALLOW),
    ],
    "clone": if_bits(0, flags.NEW_NAMESPACES, refuse(errno.EPERM), ret(RET_ALLOW)),
    # a filter with a listener of its own is refused by the other tracer, too
    "seccomp": [
        (LOAD, 0, 0, low(0)),
        (JEQ, 0, 3, 1),
        (LOAD, 0, 0, low(1)),
        (JSET, 0, 1, 8),
        *refuse(errno.EBUSY),
        *ret(RET_ALLOW),
    ],
    # gVisor lets anybody raise a priority (which does nothing in it)
    "setpriority": [
        (LOAD, 0, 0, low(2)),
        (JGE, 0, 1, 0x80000000),
        *refuse(errno.EACCES),
        *ret(RET_ALLOW),
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


def attempt_fields(number: int, names: Mapping[int, str]) -> tuple[str, dict[str, Any]] | None:
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
    of ours knows are refused only so that its log tells of them. Raises InconclusiveError without a table.
    """
    arch = known_arch(arch)
    known = numbers(arch)
    code: Code = [
        *on_arch(arch, refuse(errno.EPERM)),
        (JGE, 0, 1, max(known.values()) + 1),  # x32 too: its bit makes a number that is larger
        *refuse(errno.ENOSYS),
    ]
    for name, number in sorted(known.items(), key=lambda item: item[1]):
        if name in _BY_VALUE:
            test = _BY_VALUE[name]
            code += [(JEQ, 0, len(test), number), *test]
        elif name in table.REFUSED or name in table.UNSUPPORTED:
            code += [(JEQ, 0, 1, number), *refuse(answer(name))]
    for number in _gaps(set(known.values())):
        code += [(JEQ, 0, 1, number), *refuse(errno.ENOSYS)]
    code += ret(RET_ALLOW)
    return packed(code)


def _gaps(known: set[int]) -> list[int]:
    """Numbers in no table, below the largest that is in one."""
    return [number for number in range(max(known)) if number not in known]
