"""The second look: what it takes for new was compared with base, also when time is short."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from gate.model.change import Side
from gate.model.run import ExecutionPlan, Probe, RunRecord
from gate.stages import behaviour
from tests.unit.signals.context import context, run
from tests.unit.tracing.trace_builder import Trace

PROBE = Probe(
    id="import-x",
    phase="import",
    target="x",
    path="x.py",
    argv=("python3", "/opt/gate/driver/main.py", '{"items": [{"module": "x"}]}'),
    driver=True,
    sides=("base", "head"),
)


class Slow:
    """A machine on which every run of the second look takes long; in CI the code connects, on both sides."""

    def __init__(self, folder: Path, seconds: float, sides: tuple[Side, ...]) -> None:
        self.folder, self.seconds, self.connecting = folder, seconds, sides
        self.ran: list[tuple[str, Side]] = []

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        self.ran.append((probe.id, side))
        trace, name = Trace(), f"{probe.id}-{side}-{repeat}.jsonl"  # several run at once
        if "~" in probe.id:
            time.sleep(self.seconds)
        if probe.id.endswith("~ci") and side in self.connecting:
            trace.net("connect", "198.51.100.7", 443)
        path = trace.save(self.folder / name)
        return replace(run("import", trace=path), probe=probe, side=side, repeat=repeat)

    def expect(self, runs: int) -> None:
        """Nothing is started ahead."""

    def abort(self) -> None:
        """Nothing runs long."""


@pytest.mark.parametrize(("sides", "told"), [(("base", "head"), []), (("head",), ["198.51.100.7:443"])])
def test_base_is_asked_even_when_head_used_up_the_time(
    sides: tuple[Side, ...], told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behaviour, "_LEAST", 0.2)
    session = Slow(tmp_path, 0.5, sides)
    looked = behaviour.compare_behaviour(
        session,
        ExecutionPlan(probes=(PROBE,)),
        context().change,
        (),
        request=behaviour.LookRequest(
            budget=0.9,
            endless=9.0,
            deep=True,
            suspects=set,
            settled=lambda _: False,
            note=lambda _: None,
        ),
    )
    assert ("import-x~ci", "base") in session.ran
    assert [b.subject for b in looked.diff.new] == told
