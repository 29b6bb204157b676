"""What gVisor is asked to report: the trace session (pod-init-config) and the runtime's arguments.

Two sources, both in the sentry and out of the code's reach. Packets: every call of interest *raw*
(number and registers: no text, so it can always be encoded), and opens, executions and addresses once more
with what they name. A packet whose text is no UTF-8 is lost in the sentry without being counted (protobuf
refuses it): the raw one beside it tells. Log: the sentry's own strace of the calls for which packets have
no text (unlink, rename, chmod, sendto ...), as JSON lines.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Collection
from typing import Any, Final

from gate.inside.observer import table
from gate.inside.observer.numbers import numbers
from gate.tracing.readers.gvisor.descriptors import DESCRIPTORS
from gate.tracing.readers.gvisor.log import DOUBLED

RICH: Final = frozenset(("open", "openat", "creat", "execve", "execveat", "connect", "bind", "prlimit64"))
"""Reported with what they name, beside the raw packet."""
_LOGGED: Final = """
    unlink unlinkat rmdir rename renameat renameat2 link linkat symlink symlinkat mkdir mkdirat mknod
    mknodat chmod fchmod fchmodat chown fchown lchown fchownat truncate utime utimes futimesat
    utimensat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr sendto sendmsg sendmmsg
    memfd_create
"""
LOGGED: Final = frozenset(_LOGGED.split())
"""Read from the sentry's log, and counted against the raw packets."""
LOOKS: Final = frozenset(("stat", "lstat", "newfstatat", "access", "faccessat", "readlink", "readlinkat"))
FOLDERS: Final = frozenset(("chdir", "fchdir"))
"""Logged only: questions about paths, and where relative paths begin."""
_WORKED: Final = frozenset(("execve", "execveat"))
_BY_TEXT: Final = DOUBLED
"""Of what is reported with its name, those that name it as text: in the log as well, for text that no packet
can hold.
"""
_PIPES: Final = ("pipe", "pipe2", "socketpair")
"""Reported at their end, with the two descriptors."""
EXITS: Final = _WORKED | DESCRIPTORS
"""Reported raw at their end, too: only then is it known whether they worked, and what they gave."""


def observed() -> frozenset[str]:
    """Names of the calls reported raw."""
    return (table.OBSERVED - table.LOOK) | table.REFUSED


def session(endpoint: str, points: Collection[str]) -> dict[str, Any]:
    """The pod-init-config for a sink at ``endpoint``. ``points``: what this runsc offers
    (``runsc trace metadata``); calls that it does not know cannot be made in it either.
    """
    sink = {
        "name": "remote",
        # a full socket makes the sandbox wait (20 s at most a call) instead of losing what it did
        "config": {"endpoint": endpoint, "retries": 2000, "backoff": "20us", "backoff_max": "10ms"},
    }
    have = [point for point in _wanted() if point["name"] in points]
    return {"trace_session": {"name": "Default", "points": have, "sinks": [sink]}}


def digest() -> str:
    """8 hex digits that change with what is asked for: a runtime that was registered for other trace points
    is told from one of today's by the name of its configuration.
    """
    return hashlib.sha256(json.dumps(_wanted(), sort_keys=True).encode()).hexdigest()[:8]


def _wanted() -> list[dict[str, Any]]:
    always = ["time", "thread_id", "group_id"]
    wanted: list[dict[str, Any]] = [
        {"name": "container/start", "context_fields": [*always, "container_id"]},
        {"name": "sentry/clone", "context_fields": always},
        {"name": "sentry/execve", "context_fields": always},
        {"name": "sentry/exit_notify_parent", "context_fields": always},
    ]
    known = numbers(platform.machine())
    for name in sorted(observed() | EXITS):
        number = known.get(name)
        if number is None:
            continue
        # an end says whose it is only where the beginning is asked for, too
        ways = ("enter", "exit") if name in EXITS else ("enter",)
        wanted += [{"name": f"syscall/sysno/{number}/{way}", "context_fields": always} for way in ways]
        if name in RICH:
            extra = ["fd_path"] if name.endswith("at") else []
            extra += ["envv"] if name in _WORKED else []
            # the folder is text, too: where it is no UTF-8, no packet that names it can be sent
            folder = ["cwd"] if name in _BY_TEXT else []
            point: dict[str, Any] = {"name": f"syscall/{name}/enter", "context_fields": [*always, *folder]}
            wanted.append(point | ({"optional_fields": extra} if extra else {}))
    for name in _PIPES:
        wanted += [{"name": f"syscall/{name}/{way}", "context_fields": always} for way in ("enter", "exit")]
    return wanted


def arguments(config: str, log: str, missing: Collection[str] = ()) -> list[str]:
    """Runsc's arguments. ``log`` is a FIFO with a reader; ``missing``: calls this runsc cannot log."""
    logged = sorted((LOGGED | LOOKS | FOLDERS | _BY_TEXT) - set(missing))
    return [
        "--platform=systrap",
        "--network=none",
        "--oci-seccomp",
        f"--pod-init-config={config}",
        "--strace",
        f"--strace-syscalls={','.join(logged)}",
        "--strace-log-size=256",
        "--debug",  # without it a call that a filter denies is in no log
        f"--debug-log={log}",
        "--debug-command=boot",
        "--debug-log-format=json",
    ]
