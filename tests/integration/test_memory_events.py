"""A kill for memory is heard of, also when its control group is gone by the time that somebody asks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gate.model.run import Limits
from gate.sandbox.backends.bubblewrap import cgroup
from gate.sandbox.backends.bubblewrap.cgroup import Cgroup
from gate.sandbox.backends.container.memory_events import MemoryEvents

_WAIT = "import sys; sys.stdin.read(1); "
BOMB = _WAIT + "held = []\nwhile True: held.append(b'x' * (1 << 20))"
QUIET = _WAIT + "pass"


@pytest.fixture
def group() -> Iterator[Cgroup]:
    made = cgroup.make(Limits(memory=32 << 20, pids=16))
    if made is None or made.version != 1:
        pytest.skip("no control group of version 1 may be made here")
    yield made
    made.remove()


def _run(group: Cgroup, code: str) -> int:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE) as child:
        group.add(child.pid)
        child.communicate(b"x", timeout=60)
        return child.returncode


@pytest.mark.parametrize("removed", [False, True], ids=["still there", "removed"])
@pytest.mark.parametrize(("code", "told"), [(BOMB, True), (QUIET, False)], ids=["bomb", "quiet"])
def test_only_a_kill_for_memory_is_told(group: Cgroup, code: str, told: bool, removed: bool) -> None:
    events = MemoryEvents(group)
    assert (_run(group, code) == -9) is told
    if removed:
        group.remove()
        assert not group.exists
    assert [events.out_of_memory() for _ in range(2)] == [told, told]
    events.close()
    assert not events.out_of_memory()


def test_it_is_deaf_where_nothing_is_to_be_heard(group: Cgroup) -> None:
    before = len(os.listdir("/proc/self/fd"))
    unified = replace(group, version=2)
    gone = Cgroup(version=1, folders={"memory": group.folders["memory"] / "not-there"})
    assert [MemoryEvents(one).out_of_memory() for one in (None, unified, gone)] == [False] * 3
    assert len(os.listdir("/proc/self/fd")) == before
