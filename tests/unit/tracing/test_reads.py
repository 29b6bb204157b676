"""What a run read, and every reason why a trace does not prove it."""

from __future__ import annotations

from typing import Any

import pytest

from gate.tracing.events import (
    Attempt,
    Exec,
    Exit,
    File,
    Fork,
    Memfd,
    Net,
    Open,
    PathQuery,
    Process,
    Signal,
    Socket,
)
from gate.tracing.reads import Reads

ROOT = 100


def heard(*events: tuple[type, dict[str, Any]], items: int = 1) -> Reads:
    """The driver forks one item, which does this and ends."""
    reads = Reads(links=frozenset({"/work/tree/link"}), items=items)
    whole = [
        (Process, {"pid": ROOT, "ppid": 1, "exe": "python3", "comm": "python3"}),
        (Fork, {"pid": ROOT, "call": "clone"}),
        (Process, {"pid": 101, "ppid": ROOT, "exe": "python3", "comm": "python3"}),
        *events,
        (Exit, {"pid": 101, "code": 0}),
    ]
    for number, (kind, fields) in enumerate(whole):
        reads.hear(kind(seq=number, t=0.0, **fields))
    reads.ended()
    return reads


def opened(path: str, **more: Any) -> tuple[type, dict[str, Any]]:
    return Open, {"pid": 101, "call": "openat", "access": "r", "path": path} | more


def test_every_path_that_is_asked_about_counts() -> None:
    reads = heard(
        opened("/work/tree/a.py", asked="/work/tree/x/../a.py"),
        (PathQuery, {"pid": 101, "call": "newfstatat", "path": "/work/tree/missing"}),
        (Exec, {"pid": 101, "call": "execve", "path": "/work/tree/run.sh"}),
        (File, {"pid": 101, "call": "unlink", "path": "/work/tree/old"}),
    )
    assert reads.doubt == ""
    assert reads.paths == {f"/work/tree/{name}" for name in ("a.py", "missing", "run.sh", "old")}
    assert reads.opened == {"/work/tree/a.py", "/work/tree/run.sh"}


@pytest.mark.parametrize(
    "event",
    [
        (Fork, {"pid": 101, "call": "clone"}),
        (Fork, {"pid": 101, "call": "clone", "thread": True, "flags": "CLONE_VM"}),
        (Fork, {"pid": ROOT, "call": "clone"}),
        (Attempt, {"pid": 101, "call": "ptrace", "denied": True}),
        (Memfd, {"pid": 101, "call": "memfd_create"}),
        (Signal, {"pid": 101, "call": "kill", "sig": "SIGTERM", "target": 2, "scope": "other"}),
        (File, {"pid": 101, "call": "symlink", "path": "/tmp/l", "other": "/work/tree"}),
        (File, {"pid": 101, "call": "linkat", "path": "/tmp/l", "other": "/work/tree/a.py"}),
        (File, {"pid": 101, "call": "renameat2", "path": "/tmp/l", "other": "/work/tree/a.py"}),
        (PathQuery, {"pid": 101, "call": "stat", "path": "/work/tree/link/a.py"}),
        (PathQuery, {"pid": 101, "call": "stat", "path": "/work/tree/d/../link/a.py"}),
        opened("/proc/self/cwd/a.py"),
        opened("/proc/meminfo"),
        opened("/sys/fs/cgroup/memory.max"),
        opened("/dev/fd/3"),
        opened("/tmp/f", flags="O_CREAT|O_DIRECT"),
        opened("/tmp/f", abi="i386"),
        opened("/tmp/f", denied=True, errno="EPERM"),
        opened("a.py"),
    ],
)  # fmt: skip
def test_what_leaves_a_doubt(event: tuple[type, dict[str, Any]]) -> None:
    assert heard(event).doubt


def test_an_item_that_was_not_forked_leaves_a_doubt() -> None:
    assert heard(items=2).doubt
    assert heard(items=0).doubt


@pytest.mark.parametrize(
    ("event", "network"),
    [
        ((Net, {"pid": 101, "call": "connect", "family": "AF_UNIX", "addr": "/run/x"}), True),
        ((Socket, {"pid": 101, "call": "socket", "family": "AF_INET", "kind": "SOCK_STREAM"}), True),
        ((Socket, {"pid": 101, "call": "socket", "family": "AF_UNIX", "kind": "SOCK_STREAM"}), False),
    ],
)
def test_the_network_is_told(event: tuple[type, dict[str, Any]], network: bool) -> None:
    assert heard(event).network is network
