"""The look at forced lines: what counts is alike with both seeds, not ours, and not at base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gate.change.git_range import open_range
from gate.model.change import Side
from gate.model.run import ExecutionPlan, Probe, RunRecord
from gate.plan.line_coverage import Coverage
from gate.plan.probes import job_of
from gate.plan.source_readings import read_change
from gate.stages import forced
from gate.stages.exercised import exercised
from tests.e2e.pulls import Pull, build
from tests.unit.signals.context import behaviour, command, run
from tests.unit.tracing.trace_builder import Trace

Acts = Callable[[Trace, int, Side], None]
_BEFORE = "import os\n\n\ndef a(x):\n    if x == 9:\n        os.system(x)\n"
_AFTER = _BEFORE + "\n\ndef b(x):\n    if x == 9:\n        os.system('curl ' + x)\n"


class Session:
    """A machine on which forced runs do what ``acts`` puts into their traces."""

    def __init__(self, folder: Path, acts: Acts) -> None:
        self.folder, self.acts = folder, acts
        self.ran: list[tuple[int, Side]] = []
        self.fault: str | None = None

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        seed = job_of(probe)["items"][0]["seed"]
        self.ran.append((seed, side))
        trace = Trace()
        self.acts(trace, seed, side)
        path = trace.save(self.folder / f"{probe.id}-{side}.jsonl")
        told = {"items": [{"outcome": "completed", "forced": [[11, "reached"]]}]}
        record = replace(run("call", trace=path), probe=probe, side=side, fault=self.fault)
        return replace(record, driver_report=told)

    def expect(self, runs: int) -> None:
        """Nothing is started ahead."""

    def abort(self) -> None:
        """Nothing runs long."""


def look(
    tmp_path: Path, acts: Acts, *, after: str = _AFTER, pace: float = 1.0
) -> tuple[forced.ForcedLook, Session]:
    path = "src/pricing/a.py"
    repo = build(Pull(name="x", base={path: _BEFORE}, head={path: after}, verdicts=()), tmp_path)
    session = Session(tmp_path, acts)
    with open_range(repo, "main", "head") as opened:
        files = opened.change.files
        readings = read_change(files, opened.base, opened.head)
        looking = forced.Forcing(
            session=session,
            change=opened.change,
            base=opened.base,
            head=opened.head,
            readings=readings,
            runs=(),
            planted=(),
            pace=pace,
            note=lambda _: None,
        )
        found = exercised(files, readings, ExecutionPlan(probes=()), Coverage())
        return looking.look(found), session


def connects(trace: Trace, seed: int, side: Side) -> None:
    if side == "head":
        trace.net("connect", "203.0.113.7", 4444)


def test_what_is_alike_with_both_seeds_and_not_at_base_is_told(tmp_path: Path) -> None:
    found, session = look(tmp_path, connects)
    (line,) = found.lines
    assert (line.line, line.told, line.conditions) == (11, "reached", ("x == 9",))
    assert [act.text for act in line.acts] == ["connects to 203.0.113.7:4444"]
    assert sorted(session.ran) == [(0, "base"), (0, "head"), (1, "base"), (1, "head")]


def test_what_base_does_when_forced_is_not_new(tmp_path: Path) -> None:
    def both(trace: Trace, _seed: int, _side: Side) -> None:
        trace.net("connect", "203.0.113.7", 4444)

    found, _ = look(tmp_path, both)
    assert [line.acts for line in found.lines] == [()]


def test_what_differs_between_the_seeds_is_ours(tmp_path: Path) -> None:
    def differ(trace: Trace, seed: int, _side: Side) -> None:
        trace.net("connect", f"203.0.113.{7 + seed}", 4444)

    found, session = look(tmp_path, differ)
    assert [line.acts for line in found.lines] == [()]
    assert sorted(session.ran) == [(0, "head"), (1, "head")]  # nothing to compare base with


def test_an_address_of_the_code_s_with_a_port_of_ours_is_a_fact(tmp_path: Path) -> None:
    def ports(trace: Trace, seed: int, side: Side) -> None:
        if side == "head":
            trace.net("connect", "203.0.113.7", (49157, 49171)[seed])

    found, _ = look(tmp_path, ports)
    assert [act.text for line in found.lines for act in line.acts] == ["connects to 203.0.113.7:*"]


def test_a_run_that_we_lost_is_told_and_no_fact(tmp_path: Path) -> None:
    def lost(trace: Trace, seed: int, side: Side) -> None:
        connects(trace, seed, side)

    original = Session.run

    def faulty(self: Session, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        return replace(original(self, probe, side, repeat=repeat), fault="the engine is gone")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "run", faulty)
        found, _ = look(tmp_path, lost)
    assert found.lines == ()
    assert [entry.reason for entry in found.left] == ["it could not be forced, or no time was left"]


def test_no_time_is_told(tmp_path: Path) -> None:
    found, session = look(tmp_path, connects, pace=0.0)
    assert session.ran == []
    assert [entry.target for entry in found.left] == ["line 11"]


def test_an_inert_change_runs_nothing(tmp_path: Path) -> None:
    found, session = look(tmp_path, connects, after=_BEFORE + "\nX = 1\n")
    assert (found.lines, found.left, session.ran) == ((), (), [])


@pytest.mark.parametrize(
    "mine",
    [
        behaviour("dns", "gforceda.example.invalid"),
        behaviour("write", "/home/user/gforcedbq"),
        behaviour("delete", "/tmp/gate-args/gforceda/folder"),
        command("sh -c gforceda"),
    ],
)
def test_what_repeats_a_made_up_value_is_ours(mine: object) -> None:
    assert forced.is_ours(mine, "gforced")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["connect", "send"])
def test_an_end_that_the_code_names_is_not_ours_whatever_is_asked_there(kind: str) -> None:
    asked = behaviour(kind, "203.0.113.9:80", http="GET /gforceda", host="203.0.113.9")
    assert not forced.is_ours(asked, "gforced")
    assert forced.is_ours(behaviour(kind, "gforceda.example:80", host="gforceda.example"), "gforced")


def test_what_the_code_names_is_not_ours() -> None:
    assert not forced.is_ours(command("curl http://203.0.113.7/"), "gforced")
    assert forced.said(command("curl http://203.0.113.7/")) == "runs curl http://203.0.113.7/"
