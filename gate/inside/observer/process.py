"""Decoding of calls about processes: exec, fork, signals, own standing, and what is refused.

Standard library only.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from . import flags
from .links import Links
from .paths import Args, Fields, signed
from .target import AT_FDCWD, Memory, Process, UnreadableError, inner_children
from .text import text_of

ARGV_WORDS = 64
ARGV_BYTES = 16 << 10
_POINTERS = 32768
_ENV_BYTES = 1024
ENVIRONMENT = re.compile(
    rb"(LD_|PYTHON|NODE_|PERL5|RUBY|GIT_|DYLD_|npm_config_|PIP_|SSL_|CURL_)[A-Z0-9_a-z]*|PATH|BASH_ENV|ENV|IFS"
    rb"|PS4|SHELLOPTS|GLIBC_TUNABLES|GCONV_PATH|JAVA_TOOL_OPTIONS"
    rb"|(http|https|all|no|ftp)_proxy|(HTTP|HTTPS|ALL|NO|FTP)_PROXY"
)
CONTROL_ARGS = {
    "setsid": 0,
    "capset": 0,
    "setgroups": 1,
    "setreuid": 2,
    "setregid": 2,
    "setresuid": 3,
    "setresgid": 3,
}
"""How many arguments of a ``control`` call are told; 1 for the others."""


def exec_fields(memory: Memory, links: Links, tid: int, name: str, args: Args) -> Fields:
    """Fields of an ``exec`` line."""
    if name == "execve":
        fd, at, argv, env, bits = AT_FDCWD, args[0], args[1], args[2], 0
    else:
        fd, at, argv, env, bits = signed(args[0]), args[1], args[2], args[3], args[4]
    raw = memory.string(tid, at) if at else b""
    path = memory.resolve(tid, fd, raw) if raw or bits & 0x1000 else b""
    real = links.real(tid, path) if path else None
    fields: Fields = {"path": text_of(real or path), "cwd": memory.directory(tid, AT_FDCWD)}
    if real is not None:
        fields["asked"] = text_of(path)
    if argv:
        words = memory.words(tid, argv, _POINTERS)
        fields["argc"] = len(words)
        fields["argv"] = _strings(memory, tid, words)
    if env:
        pointers = memory.words(tid, env, _POINTERS)
        fields["envc"] = len(pointers)
        fields["env"] = _environment(memory, tid, pointers)
    return fields


def _strings(memory: Memory, tid: int, words: list[int]) -> list[str]:
    out: list[str] = []
    left = ARGV_BYTES
    for word in words[:ARGV_WORDS]:
        if left <= 0:
            break
        raw = memory.string(tid, word, min(left, 4096))
        left -= len(raw) + 1
        out.append(text_of(raw))
    return out


def _environment(memory: Memory, tid: int, pointers: list[int]) -> dict[str, str]:
    """Only variables that change what runs or where data goes; values cut at 1 KiB."""
    out: dict[str, str] = {}
    for word in pointers[:1024]:
        name, _, value = memory.string(tid, word, _ENV_BYTES).partition(b"=")
        if len(name) < 64 and ENVIRONMENT.fullmatch(name) and len(out) < 64:
            out[text_of(name)] = text_of(value)
    return out


def fork_fields(name: str, args: Args) -> Fields:
    """Fields of a ``fork`` line (register values only)."""
    if name != "clone":
        return {}
    bits = args[0] & 0xFFFFFF00
    fields: Fields = {"flags": flags.names(bits & ~0x01F80000, flags.CLONE)}  # without thread bookkeeping
    if bits & 0x10000:
        fields["thread"] = True
    return fields


def signal_fields(
    tid: int, name: str, args: Args, me: Process, all_by_inner: Callable[[int], Process | None]
) -> Fields:
    """Fields of a ``signal`` line."""
    sig = args[2] if name in ("tgkill", "rt_tgsigqueueinfo") else args[1]
    target = signed(args[0])
    if name == "pidfd_send_signal":
        target = _pidfd_target(tid, target)
    sig = signed(sig)
    scope = _scope(target, me, all_by_inner)
    if name == "tkill" and scope == "other" and _own_thread(me, target):
        scope = "self"
    return {"sig": flags.SIGNALS.get(sig, f"SIG{sig}"), "target": target, "scope": scope}


def _scope(target: int, me: Process, by_inner: Callable[[int], Process | None]) -> str:
    if target == -1:
        return "all"
    if target <= 0:
        return "group"
    if target == me.inner:
        return "self"
    if target == 1:
        return "init"
    other = by_inner(target)
    if other is not None and other.ppid == me.pid:
        return "child"
    if other is not None and other.pid == me.ppid:
        return "parent"
    if other is None and target in inner_children(me.pid):
        return "child"
    return "other"


def _own_thread(me: Process, inner: int) -> bool:
    for tid in list(me.tids):
        try:
            with open(f"/proc/{tid}/status", "rb") as status:
                if re.search(rb"^NSpid:.*\b%d$" % inner, status.read(), re.MULTILINE):
                    return True
        except OSError:
            continue
    return False


def _pidfd_target(tid: int, fd: int) -> int:
    try:
        with open(f"/proc/{tid}/fdinfo/{fd}", "rb") as info:
            found = re.search(rb"^NSpid:.*?(-?\d+)$", info.read(), re.MULTILINE)
    except OSError:
        found = None
    return int(found[1]) if found else 0


def control_fields(memory: Memory, tid: int, name: str, args: Args) -> Fields:
    """Fields of a ``control`` line."""
    if name == "prctl":
        op = args[0] & 0xFFFFFFFF
        value = hex(args[1])
        if op == 15:  # PR_SET_NAME
            value = text_of(memory.string(tid, args[1], 16))
        return {"op": flags.PRCTL.get(op, f"PR_{op}"), "value": value}
    if name == "seccomp":
        return {"op": flags.SECCOMP.get(args[0], hex(args[0])), "value": hex(args[1])}
    if name in ("setrlimit", "prlimit64"):
        at, resource = (args[1], args[0]) if name == "setrlimit" else (args[2], args[1])
        soft, hard = struct.unpack("<QQ", memory.exactly(tid, at, 16))
        return {"op": flags.RLIMIT.get(resource, f"RLIMIT_{resource}"), "value": f"{soft}:{hard}"}
    return {"op": name, "value": ",".join(str(signed(a)) for a in args[: CONTROL_ARGS.get(name, 1)])}


def attempt_detail(memory: Memory, tid: int, name: str, args: Args) -> str:
    """A refused call's arguments for people; never raises."""
    try:
        if name == "ptrace":
            return f"{flags.PTRACE.get(args[0], hex(args[0]))} pid={signed(args[1])}"
        if name in ("process_vm_readv", "process_vm_writev"):
            return f"pid={signed(args[0])}"
        if name in ("unshare", "setns", "clone"):
            return flags.names(args[name == "setns"] & 0xFFFFFF80, flags.CLONE)
        if name == "socket":
            return " ".join(
                (flags.FAMILIES.get(signed(args[0]), str(signed(args[0]))), hex(args[1]), hex(args[2]))
            )
        if name == "mount":
            return " ".join(text_of(memory.string(tid, a, 512)) if a else "-" for a in args[:3])
        if name in (
            "umount2",
            "pivot_root",
            "chroot",
            "swapon",
            "swapoff",
            "acct",
            "delete_module",
            "uselib",
        ):
            return text_of(memory.string(tid, args[0], 512))
        if name in ("sethostname", "setdomainname"):
            return text_of(memory.read(tid, args[0], min(args[1], 64)) if args[1] else b"")
    except UnreadableError:
        return "unreadable"
    return ", ".join(hex(a) for a in args)
