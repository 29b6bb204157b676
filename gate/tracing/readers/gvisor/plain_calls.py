"""Calls in gVisor whose registers say everything: signals, a process's own standing, what needs rights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gate.inside.observer import flags, process
from gate.inside.observer.paths import signed
from gate.tracing.bpf.user_notification import PR_HARMLESS

LAUNCHER: Final = 1
"""Its process number inside."""
Fields = dict[str, Any]
Args = tuple[int, ...]


def signal_fields(name: str, args: Args, group: int, parent_of: Callable[[int], int | None]) -> Fields:
    """Fields of a ``signal`` line by the process ``group``. ``parent_of``: None for one nobody told of."""
    number = signed(args[2] if name in ("tgkill", "rt_tgsigqueueinfo") else args[1])
    target = 0 if name == "pidfd_send_signal" else signed(args[0])
    if target == -1:
        scope = "all"
    elif target <= 0:
        scope = "group" if name != "pidfd_send_signal" else "other"
    elif target == group:
        scope = "self"
    elif target == LAUNCHER:
        scope = "init"
    elif target == parent_of(group):
        scope = "parent"
    else:
        scope = "child" if parent_of(target) == group else "other"
    return {"sig": flags.SIGNALS.get(number, f"SIG{number}"), "target": target, "scope": scope}


def control_fields(name: str, args: Args) -> Fields | None:
    """Fields of a ``control`` line; None for a prctl that is nothing to tell of."""
    if name == "prctl":
        op = args[0] & 0xFFFFFFFF
        if op in PR_HARMLESS:
            return None
        value = "" if op == 15 else hex(args[1])  # PR_SET_NAME: its text is not seen
        return {"op": flags.PRCTL.get(op, f"PR_{op}"), "value": value}
    if name == "seccomp":
        return {"op": flags.SECCOMP.get(args[0], hex(args[0])), "value": hex(args[1])}
    if name == "setrlimit":
        return {"op": flags.RLIMIT.get(args[0], f"RLIMIT_{args[0]}")}
    count = process.CONTROL_ARGS.get(name, 1)
    return {"op": name, "value": ",".join(str(signed(arg)) for arg in args[:count])}


def limit_fields(which: int, soft: int, hard: int) -> Fields:
    """Fields of a ``control`` line for prlimit64."""
    return {"op": flags.RLIMIT.get(which, f"RLIMIT_{which}"), "value": f"{soft}:{hard}"}


def attempt_detail(name: str, args: Args) -> str:
    """What was asked, for people."""
    if name == "ptrace":
        return f"{flags.PTRACE.get(args[0], hex(args[0]))} pid={signed(args[1])}"
    if name == "unshare":
        return flags.names(args[0] & 0xFFFFFF80, flags.CLONE)
    return ", ".join(hex(arg) for arg in args)
