"""The seccomp filter that makes the kernel ask our supervisor (SECCOMP_RET_USER_NOTIF).

An allow-list over gate/inside/observer/table.py: silent calls run at native speed (the kernel caches
that answer), everything else, known or not, is a notification; a foreign architecture and x32 too.
Sources: Documentation/userspace-api/seccomp_filter.rst, uapi linux/seccomp.h, linux/filter.h.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gate.inside.observer import table
from gate.inside.observer.numbers import numbers
from gate.tracing.bpf import assembler
from gate.tracing.bpf.assembler import (
    JEQ,
    LOAD,
    RET_ALLOW,
    RET_NOTIFY,
    Code,
    assemble,
    if_bits,
    known_arch,
    low,
    ret,
)

RET_ENOSYS: Final = assembler.RET_ERRNO | 38

_AT_EMPTY_PATH = 0x1000
PR_HARMLESS: Final = (2, 3, 7, 9, 11, 13, 16, 19, 21, 23, 25, 27, 29, 30, 34, 37, 39, 40, 42, 52, 0x53564D41)
"""PR_GET_*, PR_SET_TIMERSLACK and PR_SET_VMA (allocators name their maps): uapi linux/prctl.h."""


def _if_zero(arg: int) -> Code:
    """Allow when the 64-bit argument is 0, else notify."""
    return [
        (LOAD, 0, 0, low(arg)),
        (JEQ, 0, 3, 0),
        (LOAD, 0, 0, low(arg) + 4),
        (JEQ, 0, 1, 0),
        *ret(RET_ALLOW),
        *ret(RET_NOTIFY),
    ]


def _if_bits(arg: int, bits: int) -> Code:
    """Allow when any of the bits is set in the low half, else notify."""
    return if_bits(arg, bits, ret(RET_ALLOW), ret(RET_NOTIFY))


def _if_one_of(arg: int, values: tuple[int, ...]) -> Code:
    """Allow when the low half is one of the values, else notify."""
    tests = [(JEQ, len(values) - i, 0, value) for i, value in enumerate(values)]
    return [(LOAD, 0, 0, low(arg)), *tests, *ret(RET_NOTIFY), *ret(RET_ALLOW)]


_SPECIAL: Final[dict[str, Callable[[], Code]]] = {
    "sendto": lambda: _if_zero(4),  # a connected socket: its connect was seen
    "prlimit64": lambda: _if_zero(2),  # only asks
    "newfstatat": lambda: _if_bits(3, _AT_EMPTY_PATH),  # what libc makes of fstat
    "statx": lambda: _if_bits(2, _AT_EMPTY_PATH),
    "prctl": lambda: _if_one_of(0, PR_HARMLESS),
    "personality": lambda: _if_one_of(0, (0xFFFFFFFF,)),  # only asks
}


def filter_program(arch: str | None = None, *, look: bool = True, files: bool = True) -> bytes:
    """The filter as an array of ``struct sock_filter`` (8 bytes each, little endian).

    ``arch`` is a machine name as `uname -m` gives it (default: this machine's). With ``look`` False
    questions about paths (stat and the like) stay silent, with ``files`` False so do all other calls on
    files. Raises InconclusiveError where we have no table.
    """
    arch = known_arch(arch)
    silent = table.SILENT if look else table.SILENT | table.LOOK
    silent = silent if files else silent | table.OPEN | table.FILE
    by_number: dict[int, Code] = {}
    for name, number in numbers(arch).items():
        if name in table.UNSUPPORTED:
            by_number[number] = ret(RET_ENOSYS)
        elif name in silent:
            by_number[number] = ret(RET_ALLOW)
        elif name in _SPECIAL:
            by_number[number] = _SPECIAL[name]()
    return assemble(arch, by_number, RET_NOTIFY)


_I386 = [
    "_llseek",
    "_newselect",
    "bdflush",
    "chown32",
    "clock_adjtime64",
    "clock_getres_time64",
    "clock_gettime64",
    "clock_nanosleep_time64",
    "clock_settime64",
    "fadvise64_64",
    "fchown32",
    "fcntl64",
    "fstat64",
    "fstatat64",
    "fstatfs64",
    "ftime",
    "ftruncate64",
    "futex_time64",
    "getegid32",
    "geteuid32",
    "getgid32",
    "getgroups32",
    "getresgid32",
    "getresuid32",
    "getuid32",
    "io_pgetevents_time64",
    "ipc",
    "lchown32",
    "lstat64",
    "mmap2",
    "mq_timedreceive_time64",
    "mq_timedsend_time64",
    "nice",
    "oldfstat",
    "oldlstat",
    "oldolduname",
    "oldstat",
    "olduname",
    "ppoll_time64",
    "pselect6_time64",
    "readdir",
    "recvmmsg_time64",
    "rt_sigtimedwait_time64",
    "sched_rr_get_interval_time64",
    "semtimedop_time64",
    "sendfile64",
    "setfsgid32",
    "setfsuid32",
    "setgid32",
    "setgroups32",
    "setregid32",
    "setresgid32",
    "setresuid32",
    "setreuid32",
    "setuid32",
    "sgetmask",
    "sigaction",
    "signal",
    "sigpending",
    "sigprocmask",
    "sigreturn",
    "sigsuspend",
    "socketcall",
    "ssetmask",
    "stat64",
    "statfs64",
    "stime",
    "timer_gettime64",
    "timer_settime64",
    "timerfd_gettime64",
    "timerfd_settime64",
    "truncate64",
    "ugetrlimit",
    "umount",
    "utimensat_time64",
    "vm86",
    "vm86old",
    "waitpid",
]


def docker_profile() -> dict[str, object]:
    """The engine's own profile (rules/seccomp.json is this, checked by a test).

    The kernel takes the most severe answer of all filters, and an errno beats a notification: what our
    filter is to refuse *and report* must pass the engine's filter first. Foreign ABIs pass it for the
    same reason. Calls in no list of ours stay refused here, unreported.
    """
    rows = [
        ("seen through something else, or harmless", table.SILENT | table.UNSUPPORTED),
        ("observed by the supervisor", table.OBSERVED),
        ("refused and reported by the supervisor (never carried out)", table.REFUSED),
        ("32-bit only: refused and reported by the supervisor", frozenset(_I386)),
    ]
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86", "SCMP_ARCH_X32"]},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": ["SCMP_ARCH_ARM"]},
        ],
        "syscalls": [
            {"comment": why, "names": sorted(names), "action": "SCMP_ACT_ALLOW"} for why, names in rows
        ],
    }
