"""Classic BPF for seccomp: the instructions, and their bytes.

Sources: Documentation/userspace-api/seccomp_filter.rst, uapi linux/seccomp.h, linux/filter.h,
linux/bpf_common.h.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Mapping
from typing import Final

from gate.errors import InconclusiveError
from gate.inside.observer.numbers import AUDIT_ARCH, NAMES

RET_TRAP: Final = 0x00030000
RET_ERRNO: Final = 0x00050000
RET_NOTIFY: Final = 0x7FC00000
RET_ALLOW: Final = 0x7FFF0000

LOAD, AND, OR, JEQ, JGE, JSET, JA, RET, RET_A = 0x20, 0x54, 0x44, 0x15, 0x35, 0x45, 0x05, 0x06, 0x16
NR, ARCH, _ARGS = 0, 4, 16
"""Where the call's number, its architecture and its arguments lie in ``struct seccomp_data``."""
_MOST: Final = 4096
"""BPF_MAXINSNS"""

Code = list[tuple[int, int, int, int]]
"""Instructions: operation, jump if true, jump if false, value."""


def ret(value: int) -> Code:
    """Return this action."""
    return [(RET, 0, 0, value)]


def refuse(error: int) -> Code:
    """Return this errno."""
    return ret(RET_ERRNO | error)


def low(arg: int) -> int:
    """Where the low half of an argument lies in ``struct seccomp_data``."""
    return _ARGS + 8 * arg  # little endian, as both architectures we know


def if_bits(arg: int, bits: int, then: Code, other: Code) -> Code:
    """``then`` when any of the bits is set in the argument's low half, else ``other``."""
    return [(LOAD, 0, 0, low(arg)), (JSET, 0, len(then), bits), *then, *other]


def known_arch(arch: str | None) -> str:
    """A machine name that we have a table for; None: this machine's. Raises InconclusiveError."""
    arch = arch or platform.machine()
    if arch not in NAMES:
        raise InconclusiveError(
            f"no system call table for {arch}",
            advice="Tracing works on x86_64 and aarch64; choose another backend.",
        )
    return arch


def on_arch(arch: str, foreign: Code) -> Code:
    """``foreign`` for any other architecture; behind it the accumulator holds the call's number."""
    return [(LOAD, 0, 0, ARCH), (JEQ, len(foreign), 0, AUDIT_ARCH[arch]), *foreign, (LOAD, 0, 0, NR)]


def packed(code: Code) -> bytes:
    """An array of ``struct sock_filter``: 8 bytes each, little endian."""
    if len(code) > _MOST:
        raise AssertionError("filter too long")
    return b"".join(struct.pack("<HBBI", *line) for line in code)


def assemble(arch: str, by_number: Mapping[int, Code], other: int) -> bytes:
    """A filter that runs each number's code, and returns ``other`` for all other numbers and for
    every foreign architecture. The accumulator is the code's own; x32 numbers are among the others.
    """
    rest = ret(other)
    actions: list[tuple[int, Code]] = []
    for number in range(max(by_number) + 2):
        code = by_number.get(number, rest)
        if not actions or actions[-1][1] != code:
            actions.append((number, code))
    return packed(on_arch(arch, rest) + _tree(actions))


def _tree(actions: list[tuple[int, Code]]) -> Code:
    """A binary search over the numbers; the accumulator holds the number."""
    if len(actions) == 1:
        return actions[0][1]
    middle = len(actions) // 2
    left, right = _tree(actions[:middle]), _tree(actions[middle:])
    return [(JGE, 0, 1, actions[middle][0]), (JA, 0, 0, len(left)), *left, *right]
