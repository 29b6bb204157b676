"""A plan run in a session: the order, what is repeated, and what a spent budget leaves out."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from gate.model.change import Side
from gate.model.cut_short import NOT_RUN
from gate.model.run import (
    Completeness,
    ExecutionPlan,
    Outcome,
    Phase,
    Probe,
    RunRecord,
)
from gate.plan.retries import patient
from gate.sandbox.execution import IDLE, execute
from gate.sandbox.patience import Patience
from gate.sandbox.run_record import RunObservation, never_started, to_record
from gate.settings import SandboxSettings
from tests.unit.sandbox.records import heard

PROBE = Probe(id="p", phase="import", target="shop", path="shop.py", argv=("python3", "-c", "pass"))


# -- images ---------------------------------------------------------------------------------------


class Recording:
    """A session that notes what it was asked for."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.asked: list[tuple[str, str, int]] = []
        self.expected = 0
        self.aborted = False
        self._seconds = seconds

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        self.asked.append((probe.id, side, repeat))
        time.sleep(self._seconds)
        seen = RunObservation(ending="said", seconds=self._seconds, completeness=Completeness())
        return to_record(heard(), seen, probe, side, repeat)

    def expect(self, runs: int) -> None:
        self.expected += runs

    def abort(self) -> None:
        self.aborted = True


def test_a_plan_runs_idle_then_all_sides_then_base_again() -> None:
    other = replace(PROBE, id="q", sides=("head",))
    session, said = Recording(), list[str]()
    records = execute(
        session, ExecutionPlan(probes=(PROBE, other)), patience=Patience(60), progress=said.append, workers=1
    )
    turns = [("idle", "base", 0), ("p", "base", 0), ("p", "head", 0), ("q", "head", 0), ("p", "base", 1)]
    assert session.asked == turns
    assert [(r.probe.id, r.side, r.repeat) for r in records] == turns
    assert records[0].probe == IDLE
    assert session.expected == len(said) == 5
    assert "shop at head: completed" in said[2]


@pytest.mark.parametrize(("where", "more"), [({"p"}, 1), ({"q"}, 0), (set(), 0)])
def test_base_is_repeated_only_where_the_sides_differ(where: set[str], more: int) -> None:
    session, asked = Recording(), list[int]()

    def told(runs: tuple[RunRecord, ...]) -> set[str]:
        asked.append(len(runs))
        return where

    plan = ExecutionPlan(probes=(PROBE,))
    records = execute(session, plan, patience=Patience(60), workers=1, differs=told)
    assert asked == [3]
    assert [r.repeat for r in records] == [0, 0, 0, 1][: 3 + more]
    assert session.expected == 3 + more


@pytest.mark.parametrize(
    ("budget", "begun"),
    [
        (600, ["install", "import", "test", "call", "idle"]),  # all fits: the long ones first
        (30, ["idle", "import", "call", "test", "install"]),  # it may not: what matters more first
    ],
)
def test_what_takes_long_is_begun_first_where_all_of_it_fits(budget: float, begun: list[str]) -> None:
    phases: tuple[Phase, ...] = ("import", "call", "test", "install")
    probes = tuple(replace(PROBE, id=phase, phase=phase, sides=("head",), driver=False) for phase in phases)
    session = Recording()
    records = execute(session, ExecutionPlan(probes=probes), patience=Patience(budget), workers=1)
    assert [name for name, *_ in session.asked] == begun
    assert [record.probe.phase for record in records] == ["idle", *phases], "told in the plan's order"


def test_an_empty_plan_runs_nothing() -> None:
    session = Recording()
    assert execute(session, ExecutionPlan(probes=()), patience=Patience(60)) == ()
    assert session.asked == []


def test_a_package_that_a_spent_budget_leaves_out_is_a_fault() -> None:
    session = Recording(seconds=0.06)
    probe = replace(PROBE, driver=False, dependency="left-pad 1.0")
    records = execute(session, ExecutionPlan(probes=(probe,)), patience=Patience(0.1), workers=1)
    assert [(r.probe.id, r.side, r.repeat) for r in records] == [
        ("idle", "base", 0),
        ("p", "base", 0),
        ("p", "head", 0),
    ]
    assert records[2].outcome is Outcome.NEVER_STARTED
    assert records[2].fault is not None
    assert "budget" in records[2].fault


@pytest.mark.parametrize("phase", ["import", "test", "call", "script"])
def test_what_has_lines_of_its_own_is_not_run_where_the_budget_is_spent(phase: Phase) -> None:
    probe = replace(PROBE, phase=phase, driver=False)
    records = execute(
        Recording(seconds=0.06), ExecutionPlan(probes=(probe,)), patience=Patience(0.1), workers=1
    )
    assert (records[2].outcome, records[2].fault) == (Outcome.NEVER_STARTED, None)
    assert records[2].stopped == NOT_RUN
    assert records[2].completeness.whole


class Flaky(Recording):
    """The first sandbox of each turn does not start."""

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        if (probe.id, side, repeat) in self.asked:
            return super().run(probe, side, repeat=repeat)
        self.asked.append((probe.id, side, repeat))
        return never_started(probe, side, repeat, "the sandbox did not start in time")


def test_a_sandbox_that_did_not_start_is_started_again() -> None:
    records = execute(Flaky(), ExecutionPlan(probes=(PROBE,)), patience=Patience(60), workers=1)
    assert [r.fault for r in records if not r.repeat] == [None, None, None]


def test_an_interrupt_aborts_the_session() -> None:
    class Interrupted(Recording):
        def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
            raise KeyboardInterrupt

    session = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        execute(session, ExecutionPlan(probes=(PROBE,)), patience=Patience(60), workers=1)
    assert session.aborted


# -- the choice, and what is used -----------------------------------------------------------------


class Slow(Recording):
    """Runs out of time on the named sides unless it is given ``needs`` seconds."""

    def __init__(self, *sides: str, needs: float) -> None:
        super().__init__()
        self.sides = sides
        self.needs = needs
        self.deadlines: list[float] = []

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        record = super().run(probe, side, repeat=repeat)
        self.deadlines.append(probe.deadline)
        if side in self.sides and probe.deadline < self.needs:
            return replace(record, outcome=Outcome.TIMED_OUT, completed=False)
        return record


def _slow(phase: Phase, *sides: str, needs: float = 50, budget: float = 500) -> tuple[Slow, list[RunRecord]]:
    session = Slow(*sides, needs=needs)
    probe = replace(PROBE, phase=phase, deadline=20, driver=False, sides=("base", "head"))
    return session, list(
        execute(session, ExecutionPlan(probes=(probe,)), patience=Patience(budget), workers=1)
    )


@pytest.mark.parametrize("side", ["base", "head"])
def test_an_installation_that_one_side_cannot_finish_gets_more_time(side: str) -> None:
    session, records = _slow("install", side)
    assert session.asked[-1] == ("p", side, 0)
    assert session.deadlines[-1] == 60
    (last,) = [r for r in records if r.side == side and r.repeat == 0 and r.probe.id == "p"]
    assert (last.outcome, last.probe.deadline) == (Outcome.COMPLETED, 20)
    (first,) = [r for r in records if r.stopped]
    assert (first.side, first.outcome, first.repeat) == (side, Outcome.TIMED_OUT, 9)


def test_time_that_is_still_too_short_is_told() -> None:
    session, records = _slow("script", "head", needs=1000)
    assert session.deadlines[-1] == 60
    assert [r.outcome for r in records if r.side == "head" and not r.repeat] == [Outcome.TIMED_OUT]


@pytest.mark.parametrize(
    ("phase", "sides", "budget"),
    [("install", ("base", "head"), 500.0), ("import", ("head",), 500.0), ("install", ("head",), 30.0)],
)
def test_no_second_chance(phase: Phase, sides: tuple[str, ...], budget: float) -> None:
    session, records = _slow(phase, *sides, budget=budget)
    assert len(session.asked) == 4
    assert not any(r.stopped for r in records)


def test_the_steps_of_a_patient_driver_get_more_time_too() -> None:
    probe = replace(PROBE, argv=("python3", "/d", '{"items": [], "seconds": 17}'), deadline=20)
    longer = patient(probe, 60)
    assert longer.deadline == 60
    assert json.loads(longer.argv[-1]) == {"items": [], "seconds": 57.0, "each_script": 15.0}


class Endless(Slow):
    """What head runs never ends, and takes as long as it gets."""

    def __init__(self, *, at_base: bool = False) -> None:
        super().__init__(*(("base", "head") if at_base else ("head",)), needs=1e9)

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        record = super().run(probe, side, repeat=repeat)
        return replace(record, seconds=probe.deadline if side in self.sides else 0.5)


def _many(session: Endless, phase: Phase, count: int = 6) -> list[RunRecord]:
    probes = tuple(
        replace(PROBE, id=f"p{n}", phase=phase, deadline=20, driver=False, sides=("base", "head"))
        for n in range(count)
    )
    patience = Patience(500, 30)
    return list(execute(session, ExecutionPlan(probes=probes), patience=patience, workers=1))


@pytest.mark.parametrize("phase", ["import", "call", "test"])
def test_what_never_ends_has_a_time_for_all_of_it(phase: Phase) -> None:
    heads = [r for r in _many(Endless(), phase) if r.side == "head"]
    assert [r.seconds for r in heads] == [20, 20, 8, 8, 8, 2]
    assert [r.stopped for r in heads] == ["", "", NOT_RUN, NOT_RUN, NOT_RUN, NOT_RUN]
    assert {r.probe.deadline for r in heads} == {20}


def test_many_endless_scripts_get_no_second_chance() -> None:
    session = Endless()
    heads = [r for r in _many(session, "script") if r.side == "head"]
    assert 60 not in session.deadlines
    assert sum(r.seconds for r in heads) == 20 + 20 + 3 * 8 + 2


def test_twenty_endless_imports_end_within_a_minute() -> None:
    """Two run side by side: half of what they take together, with the settings as they are."""
    settings, session = SandboxSettings(), Endless()
    probe = replace(PROBE, phase="import", deadline=settings.deadline, driver=False, sides=("base", "head"))
    plan = ExecutionPlan(probes=tuple(replace(probe, id=f"p{n}") for n in range(20)))
    records = execute(session, plan, patience=Patience(settings.budget, settings.endless), workers=1)
    assert sum(r.seconds for r in records) / 2 < 60
    assert all(r.stopped == NOT_RUN for r in records if r.side == "head" and r.seconds < settings.deadline)


def test_a_second_chance_in_vain_is_the_last_one() -> None:
    class SlowBase(Endless):
        def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
            record = super().run(probe, side, repeat=repeat)
            return replace(record, seconds=7.0) if side == "base" else record

    session = SlowBase()
    heads = [r for r in _many(session, "test") if r.side == "head" and not r.repeat]
    assert session.deadlines.count(60) == 1
    assert [r.seconds for r in heads] == [60, 20, 20, 20, 20, 20], "nearly what base takes is not endless"


def test_endless_tests_do_not_cost_an_import_its_time() -> None:
    session = Endless()
    probes = tuple(
        replace(PROBE, id=f"{phase}{n}", phase=phase, deadline=20, driver=False, sides=("head",))
        for phase in ("test", "call", "import")
        for n in range(2)
    )
    records = execute(session, ExecutionPlan(probes=probes), patience=Patience(40, 30), workers=1)
    told = {r.probe.id: f"{r.seconds:.0f} {r.stopped}".strip() for r in records}
    assert [told["import0"], told["import1"], told["call1"]] == ["20", "20", f"8 {NOT_RUN}"]


def test_what_base_does_not_end_either_has_its_time() -> None:
    heads = [r for r in _many(Endless(at_base=True), "test") if r.side == "head"]
    assert [r.seconds for r in heads] == [20] * 6


def test_a_short_rest_of_the_budget_is_divided() -> None:
    now = [0.0]
    patience = Patience(100, clock=lambda: now[0])
    probe = replace(PROBE, deadline=20)
    assert patience.deadline(probe, "head") == 20
    now[:] = [85]
    assert patience.deadline(probe, "base") == 15
    now[:] = [99]
    assert patience.deadline(probe, "base") == 8, "enough for what ordinary code needs"
    assert patience.deadline(replace(probe, phase="install"), "base") == 20
    patience.extend(50)
    assert patience.left == 50


class Steady(Slow):
    """Base takes a third of its deadline."""

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        return replace(super().run(probe, side, repeat=repeat), seconds=7.0)


@pytest.mark.parametrize("phase", ["import", "call", "test"])
def test_head_gets_more_time_where_base_took_a_good_part_of_it(phase: Phase) -> None:
    session = Steady("head", needs=50)
    probe = replace(PROBE, phase=phase, deadline=20, driver=False, sides=("base", "head"))
    records = execute(session, ExecutionPlan(probes=(probe,)), patience=Patience(500), workers=1)
    assert session.deadlines[-1] == 60
    assert [r.outcome for r in records if r.side == "head" and not r.repeat] == [Outcome.COMPLETED]
