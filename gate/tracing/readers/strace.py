"""strace as the last resort: where the kernel has no user notification, or refuses it.

strace runs outside, starts the sandbox itself (``--seccomp-bpf``: calls that nobody asked for run at native
speed) and prints every byte of the code's as hex, every constant as a number; the observer reads that
(gate/inside/observer/strace_reader.py). What our supervisor refuses by number, strace refuses (``inject``);
what strace cannot refuse, or would not see, a filter of the launcher stops with SIGSYS, which strace shows.
Sources: strace(1); seccomp(2) on the order of actions (TRAP comes before TRACE: such a call is never made).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from gate.inside.observer import table
from gate.inside.observer.numbers import numbers
from gate.tracing.bpf.assembler import (
    AND,
    JEQ,
    LOAD,
    OR,
    RET_A,
    RET_ALLOW,
    RET_TRAP,
    Code,
    assemble,
    if_bits,
    known_arch,
    low,
    ret,
)
from gate.tracing.bpf.user_notification import RET_ENOSYS

STRING: Final = 4096
"""Bytes of a text that strace prints: as long as a path can be."""
BUBBLEWRAPS_OWN: Final = frozenset(("mount", "umount2", "pivot_root", "unshare", "setns", "sethostname"))
"""Calls of bubblewrap while it builds the sandbox: refused by the sandbox, not by strace (no privileges)."""
_FAMILIES: Final = (1, 2, 10, 16)
"""As in supervisor.py: unix, inet, inet6, netlink."""
_CLONE_UNTRACED: Final = 0x00800000
_NEW_LISTENER: Final = 8


def _trap_bits(arg: int, bits: int) -> Code:
    return if_bits(arg, bits, ret(RET_TRAP), ret(RET_ALLOW))


def _trap_others(arg: int, values: tuple[int, ...]) -> Code:
    """Trap with the argument's low byte as the signal's ``si_errno``, so that strace shows it."""
    tests = [(JEQ, len(values) - i + 2, 0, value) for i, value in enumerate(values)]
    return [
        (LOAD, 0, 0, low(arg)),
        *tests,
        (AND, 0, 0, 0xFF),
        (OR, 0, 0, RET_TRAP),
        (RET_A, 0, 0, 0),
        *ret(RET_ALLOW),
    ]


_SPECIAL: Final[dict[str, Code]] = {
    "clone": _trap_bits(0, _CLONE_UNTRACED),  # a child that strace would not follow
    "seccomp": _trap_bits(1, _NEW_LISTENER),  # the code's own answers would come before strace's
    "socket": _trap_others(0, _FAMILIES),
}
_HARMLESS: Final = ("SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH")
"""Signals that end nobody, and of which there may be many. Of every other strace is to tell: it is silent on
a process that one of them ended, too, when it is told to leave the signal out."""


def filter_program(known: Collection[str], arch: str | None = None) -> bytes:
    """The launcher's filter, for a strace that knows the calls ``known``. What strace cannot show is not
    carried out: ENOSYS for what a C library has another way for, else SIGSYS. Raises InconclusiveError.
    """
    arch = known_arch(arch)
    by_number: dict[int, Code] = {}
    for name, number in numbers(arch).items():
        if name in table.UNSUPPORTED:
            by_number[number] = ret(RET_ENOSYS)
        elif name in table.SILENT:
            by_number[number] = ret(RET_ALLOW)
        elif name not in known:
            by_number[number] = ret(RET_ENOSYS if name in table.OBSERVED else RET_TRAP)
        else:
            by_number[number] = _SPECIAL.get(name, ret(RET_ALLOW))
    return assemble(arch, by_number, RET_TRAP)


def printed_calls(arch: str | None = None) -> tuple[str, ...]:
    """The calls that strace is to print, as far as it knows them. Raises InconclusiveError."""
    there = numbers(known_arch(arch))
    return tuple(sorted(name for name in table.OBSERVED | table.REFUSED if name in there))


def command(strace: str, known: Collection[str], fifo: str) -> list[str]:
    """The command line up to the program; ``fifo`` is where it writes."""
    refused = sorted(table.REFUSED & set(known) - BUBBLEWRAPS_OWN)
    return [
        *(strace, "-f", "--seccomp-bpf", "-q", "-y", "-xx", "-X", "raw", "-s", str(STRING)),
        "--pidns-translation",
        *("-e", f"signal=!{','.join(_HARMLESS)}", "-e", "abbrev=!execve,execveat"),
        *("-e", "trace=" + ",".join(sorted(known))),
        *("-e", "inject=" + ",".join(refused) + ":error=EPERM"),
        *("-o", fifo, "--"),
    ]
