"""Names of flag bits and small numbers, from Linux's uapi headers. Standard library only."""

from __future__ import annotations

import os
import signal
import socket

# asm-generic/fcntl.h; aarch64 swaps four of them.
_OPEN_X86 = {
    0o100: "O_CREAT", 0o200: "O_EXCL", 0o400: "O_NOCTTY", 0o1000: "O_TRUNC", 0o2000: "O_APPEND",
    0o4000: "O_NONBLOCK", 0o10000: "O_DSYNC", 0o20000: "O_ASYNC", 0o40000: "O_DIRECT",
    0o100000: "O_LARGEFILE", 0o200000: "O_DIRECTORY", 0o400000: "O_NOFOLLOW", 0o1000000: "O_NOATIME",
    0o2000000: "O_CLOEXEC", 0o4000000: "O_SYNC", 0o10000000: "O_PATH", 0o20000000: "O_TMPFILE",
}  # fmt: skip
_SWAPPED = {0o40000: "O_DIRECTORY", 0o100000: "O_NOFOLLOW", 0o200000: "O_DIRECT", 0o400000: "O_LARGEFILE"}
OPEN = _OPEN_X86 | (_SWAPPED if os.uname().machine == "aarch64" else {})
_HUSH = {"O_LARGEFILE", "O_CLOEXEC"}  # on nearly every call, and tell nothing
HUSHED = sum(bit for bit, name in OPEN.items() if name in _HUSH)
"""The bits of an open for reading about which there is nothing to say."""
O_PATH = 0o10000000

CLONE = {
    0x100: "CLONE_VM", 0x200: "CLONE_FS", 0x400: "CLONE_FILES", 0x800: "CLONE_SIGHAND", 0x1000: "CLONE_PIDFD",
    0x2000: "CLONE_PTRACE", 0x4000: "CLONE_VFORK", 0x8000: "CLONE_PARENT", 0x10000: "CLONE_THREAD",
    0x20000: "CLONE_NEWNS", 0x40000: "CLONE_SYSVSEM", 0x800000: "CLONE_UNTRACED",
    0x2000000: "CLONE_NEWCGROUP",
    0x4000000: "CLONE_NEWUTS", 0x8000000: "CLONE_NEWIPC", 0x10000000: "CLONE_NEWUSER",
    0x20000000: "CLONE_NEWPID", 0x40000000: "CLONE_NEWNET", 0x80000000: "CLONE_IO", 0x80: "CLONE_NEWTIME",
}  # fmt: skip
NEW_NAMESPACES = 0x7E020000
"""All CLONE_NEW* bits that clone(2) takes (CLONE_NEWTIME only works with clone3 and unshare)."""

AT = {
    0x100: "AT_SYMLINK_NOFOLLOW", 0x200: "AT_REMOVEDIR", 0x400: "AT_SYMLINK_FOLLOW", 0x1000: "AT_EMPTY_PATH",
}  # fmt: skip
RENAME = {1: "RENAME_NOREPLACE", 2: "RENAME_EXCHANGE", 4: "RENAME_WHITEOUT"}
MEMFD = {1: "MFD_CLOEXEC", 2: "MFD_ALLOW_SEALING", 4: "MFD_HUGETLB", 8: "MFD_NOEXEC_SEAL", 0x10: "MFD_EXEC"}

PRCTL = {
    1: "PR_SET_PDEATHSIG", 4: "PR_SET_DUMPABLE", 6: "PR_SET_UNALIGN", 8: "PR_SET_KEEPCAPS", 15: "PR_SET_NAME",
    22: "PR_SET_SECCOMP", 24: "PR_CAPBSET_DROP", 26: "PR_SET_TSC", 28: "PR_SET_SECUREBITS", 33: "PR_MCE_KILL",
    35: "PR_SET_MM", 36: "PR_SET_CHILD_SUBREAPER", 38: "PR_SET_NO_NEW_PRIVS", 41: "PR_SET_THP_DISABLE",
    47: "PR_CAP_AMBIENT", 53: "PR_SET_SPECULATION_CTRL", 62: "PR_SCHED_CORE", 0x59616D61: "PR_SET_PTRACER",
}  # fmt: skip
PTRACE = {
    0: "PTRACE_TRACEME", 1: "PTRACE_PEEKTEXT", 2: "PTRACE_PEEKDATA", 4: "PTRACE_POKETEXT",
    5: "PTRACE_POKEDATA",
    7: "PTRACE_CONT", 8: "PTRACE_KILL", 16: "PTRACE_ATTACH", 17: "PTRACE_DETACH", 0x4206: "PTRACE_SEIZE",
}  # fmt: skip
SECCOMP = {0: "SECCOMP_SET_MODE_STRICT", 1: "SECCOMP_SET_MODE_FILTER", 2: "SECCOMP_GET_ACTION_AVAIL",
           3: "SECCOMP_GET_NOTIF_SIZES"}  # fmt: skip
RLIMIT = {
    0: "RLIMIT_CPU", 1: "RLIMIT_FSIZE", 2: "RLIMIT_DATA", 3: "RLIMIT_STACK", 4: "RLIMIT_CORE",
    5: "RLIMIT_RSS",
    6: "RLIMIT_NPROC", 7: "RLIMIT_NOFILE", 8: "RLIMIT_MEMLOCK", 9: "RLIMIT_AS",
}  # fmt: skip

FAMILIES = {
    int(value): name for name, value in vars(socket).items() if name.startswith("AF_") and name != "AF_UNSPEC"
}
FAMILIES |= {0: "AF_UNSPEC", 1: "AF_UNIX", 2: "AF_INET", 10: "AF_INET6", 16: "AF_NETLINK", 17: "AF_PACKET",
             38: "AF_ALG", 40: "AF_VSOCK", 44: "AF_XDP"}  # fmt: skip
KINDS = {
    1: "SOCK_STREAM",
    2: "SOCK_DGRAM",
    3: "SOCK_RAW",
    4: "SOCK_RDM",
    5: "SOCK_SEQPACKET",
    10: "SOCK_PACKET",
}
PROTOS = {("SOCK_STREAM", "AF_INET"): "tcp", ("SOCK_STREAM", "AF_INET6"): "tcp",
          ("SOCK_DGRAM", "AF_INET"): "udp", ("SOCK_DGRAM", "AF_INET6"): "udp", ("SOCK_RAW", "AF_INET"): "raw",
          ("SOCK_RAW", "AF_INET6"): "raw"}  # fmt: skip
SIGNALS = {int(s): s.name for s in signal.Signals} | {0: "0"}


def names(bits: int, table: dict[int, str], hush: set[str] | None = None) -> str:
    """``A|B``; bits without a name as one hex number at the end."""
    out = []
    for bit, name in table.items():
        if bits & bit:
            bits &= ~bit
            if hush is None or name not in hush:
                out.append(name)
    if bits:
        out.append(hex(bits))
    return "|".join(out)


_cache: dict[int, tuple[str, str]] = {}


def opened(bits: int) -> tuple[str, str]:
    """(access, flags) of an open: access is r, w, rw or path."""
    known = _cache.get(bits)
    if known is None:
        access = "path" if bits & O_PATH else ("r", "w", "rw", "rw")[bits & 3]
        known = (access, names(bits & ~3, OPEN, _HUSH))
        if len(_cache) < 4096:
            _cache[bits] = known
    return known
