"""What the container backend says of a killed container, where its engine tells the cause late."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from gate.sandbox.backends.bubblewrap.cgroup import Cgroup
from gate.sandbox.backends.container.docker import DockerSandbox
from gate.sandbox.backends.container.memory_events import MemoryEvents


def _ended(told: list[bool], group: Cgroup | None = None) -> tuple[DockerSandbox, Any]:
    """A container that ended, and an engine that answers with these; the last one for ever."""
    sandbox = object.__new__(DockerSandbox)
    client = Mock()
    rest = iter(told[:-1])
    client.api.inspect_container = Mock(
        side_effect=lambda _: {"State": {"OOMKilled": next(rest, told[-1])}},
    )
    sandbox._hurried, sandbox._id, sandbox._group = client, "c", group
    sandbox._memory = MemoryEvents(None)
    return sandbox, client.api.inspect_container


def _group(folder: Path, kills: int) -> Cgroup:
    (folder / "memory.oom_control").write_text(f"oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n")
    return Cgroup(version=1, folders={"memory": folder})


@pytest.mark.parametrize(("ending", "status"), [("said", -signal.SIGKILL), ("closed", None)])
def test_a_kill_for_memory_that_is_told_after_the_end_is_heard(ending: Any, status: int | None) -> None:
    sandbox, asked = _ended([False, False, True])
    assert sandbox.exit_details(ending, status).out_of_memory
    assert asked.call_count == 3


@pytest.mark.parametrize("status", [1, -signal.SIGTERM])
def test_other_ends_are_asked_about_once(status: int) -> None:
    sandbox, asked = _ended([False])
    assert not sandbox.exit_details("said", status).out_of_memory
    assert asked.call_count == 1


def test_a_group_that_is_still_there_knows_without_waiting(tmp_path: Path) -> None:
    sandbox, asked = _ended([False], _group(tmp_path, 0))
    assert not sandbox.exit_details("said", -signal.SIGKILL).out_of_memory
    assert asked.call_count == 1
    sandbox, asked = _ended([False], _group(tmp_path, 1))
    assert sandbox.exit_details("said", -signal.SIGKILL).out_of_memory


def test_a_group_that_is_gone_knows_nothing(tmp_path: Path) -> None:
    gone = Cgroup(version=1, folders={"memory": tmp_path / "gone"})
    sandbox, _ = _ended([False, True], gone)
    assert sandbox.exit_details("said", -signal.SIGKILL).out_of_memory
