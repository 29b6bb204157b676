"""What is written into the engine's settings: ours beside what was there, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.errors import InconclusiveError
from gate.sandbox.backends.gvisor import backend, setup


def test_other_settings_and_other_runtimes_stay(tmp_path: Path) -> None:
    daemon = tmp_path / "docker" / "daemon.json"
    daemon.parent.mkdir()
    kept = {
        "log-level": "warn",
        "runtimes": {"runsc": {"path": "/opt/runsc"}, "gate-gvisor-99": {"path": "/old"}},
    }
    daemon.write_text(json.dumps(kept))
    ours = {"gate-gvisor-0": {"path": "/usr/bin/runsc"}}
    assert setup._merge(daemon, {"runsc": {"path": "/usr/bin/runsc"}}, ours)
    assert json.loads(daemon.read_text()) == {
        "log-level": "warn",
        "runtimes": {"runsc": {"path": "/opt/runsc"}, **ours},
    }
    assert not setup._merge(daemon, {"runsc": {"path": "/usr/bin/runsc"}}, ours)


def test_settings_that_are_no_json_are_left_alone(tmp_path: Path) -> None:
    daemon = tmp_path / "daemon.json"
    daemon.write_text("{,}")
    with pytest.raises(InconclusiveError, match="not JSON"):
        setup._merge(daemon, {}, {"a": {}})
    assert daemon.read_text() == "{,}"


def test_slots_are_counted_without_gaps() -> None:
    assert setup.registered({}) == 0
    assert setup.registered({"gate-gvisor-0": {}, "gate-gvisor-1": {}, "gate-gvisor-3": {}}) == 2


def test_what_another_version_registered_is_not_used() -> None:
    ours = {setup.runtime(0): {"path": "/usr/bin/runsc", "runtimeArgs": setup.arguments(0)}}
    assert setup.usable(ours) == 1
    older = {setup.runtime(0): {"runtimeArgs": ["--platform=systrap"]}}
    assert setup.registered(older) == 0
    with pytest.raises(InconclusiveError, match="another version"):
        setup.usable(older)
    with pytest.raises(InconclusiveError, match="no gVisor runtime"):
        setup.usable({})


@pytest.mark.parametrize(("frames", "waits"), [(0, 1), (3, 4), (99, 8)])
def test_a_trace_is_waited_for_as_long_as_some_of_it_comes(frames: int, waits: int) -> None:
    class Place:
        def __init__(self) -> None:
            self.frames = 0
            self.ended: Any = None
            self.finished = 0

        def finish(self) -> None:
            self.finished += 1

    class Ended:
        waited = 0

        def wait(self, seconds: float) -> bool:
            assert seconds == 2.0
            self.waited += 1
            place.frames += place.frames < frames
            return False

    place, ended = Place(), Ended()
    place.ended = ended
    box = object.__new__(backend.GvisorSandbox)
    box._reported = place  # type: ignore[assignment]
    box.trace_done(2.0)
    assert ended.waited == waits
    assert place.finished == 1, "what is here becomes a trace, whole or not"
