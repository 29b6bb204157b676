"""Runs a plan: an idle probe, every probe at base and head, and base once more to learn its noise."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from gate.model.change import Side
from gate.model.run import Completeness, ExecutionPlan, Outcome, Probe, RunRecord
from gate.sandbox.interface import Session
from gate.sandbox.planning.patience import patient, second_chances

IDLE: Final = Probe(
    id="idle",
    phase="idle",
    target="nothing",
    path=None,
    argv=("python3", "-c", "pass"),
    driver=False,
    sides=("base",),
)
"""What an interpreter does by itself: its behaviour is subtracted from everybody's."""

_LONG: Final = {"install": 0, "test": 1, "script": 2, "call": 3}
"""Phases that usually take longer than others, the longest first."""
_TRIED: Final = 9
"""The number of a try that another run with more time took the place of."""
Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Turn:
    probe: Probe
    side: Side
    repeat: int = 0


def execute(
    session: Session,
    plan: ExecutionPlan,
    *,
    budget: float,
    progress: Progress | None = None,
    workers: int | None = None,
    differs: Callable[[tuple[RunRecord, ...]], Collection[str]] | None = None,
) -> tuple[RunRecord, ...]:
    """Run every probe of the plan on its sides and return one record per turn, in a fixed order.

    ``budget`` is seconds of wall time for all of them. A turn that would start after it is spent
    is returned as ``never-started`` with a fault: it is never silently missing. The repeat of
    base is the first to go: it is left out without a fault when the budget is spent.
    ``progress`` is called with one line per finished turn, from worker threads. ``differs`` is asked for
    the ids of probes whose sides came out differently; where they did not there is no noise to tell from a
    difference, and base is not repeated (None: always repeated).
    """
    until = time.monotonic() + budget
    turns = tuple(turn for turn in _turns(plan) if not turn.repeat)
    repeats = tuple(turn for turn in _turns(plan) if turn.repeat)
    if not turns:
        return ()

    def one(turn: _Turn) -> RunRecord | None:
        if time.monotonic() >= until:
            return None if turn.repeat else _left_out(turn, budget)
        record = session.run(turn.probe, turn.side, repeat=turn.repeat)
        if progress:
            progress(f"{turn.probe.target} at {turn.side}: {record.outcome.value} in {record.seconds:.1f} s")
        return record

    session.expect(len(turns) if differs else len(turns) + len(repeats))
    beside = workers or default_workers()
    pool = ThreadPoolExecutor(max_workers=beside, thread_name_prefix="probe")
    try:
        records = _in_turn(
            pool, one, turns if differs else turns + repeats, fits=_fits(turns, beside, budget)
        )
        if differs and repeats:
            where = differs(tuple(record for record in records if record is not None))
            repeats = tuple(turn for turn in repeats if turn.probe.id in where)
            session.expect(len(repeats))
            records += pool.map(one, repeats)
    except BaseException:
        session.abort()  # an interrupt must not wait for deadlines
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    done = [record for record in records if record is not None]
    return _with_second_chances(session, done, until, progress)


def _fits(turns: tuple[_Turn, ...], workers: int, budget: float) -> bool:
    """Is there time for all of them even if each takes as long as it may?"""
    return sum(turn.probe.deadline for turn in turns) / workers <= budget


def _in_turn(
    pool: ThreadPoolExecutor,
    one: Callable[[_Turn], RunRecord | None],
    turns: tuple[_Turn, ...],
    *,
    fits: bool,
) -> list[RunRecord | None]:
    """Records in the order of the turns. What usually takes long is begun first where all of it ``fits``
    into the budget: else a worker would sit idle at the end while another is at the tests. Where time may
    run out, the order of the plan says what matters more.
    """
    order = list(range(len(turns)))
    if fits:
        order.sort(key=lambda at: _LONG.get(turns[at].probe.phase, len(_LONG)))
    begun = {at: pool.submit(one, turns[at]) for at in order}
    return [begun[at].result() for at in range(len(turns))]


def _with_second_chances(
    session: Session, records: list[RunRecord], until: float, progress: Progress | None
) -> tuple[RunRecord, ...]:
    """Installations and scripts that ran out of time on one side only are run once more with a longer one.

    The first try stays as a repeat: what was seen in it counts, that it was cut short does not. Nothing else
    runs beside it, and what does not fit into the budget is not begun.
    """
    out = list(records)
    for index, deadline in second_chances(records):
        first = records[index]
        if time.monotonic() + deadline > until:
            continue
        again = session.run(patient(first.probe, deadline), first.side)
        if progress:
            progress(f"{first.probe.target} at {first.side}, with more time: {again.outcome.value}")
        if again.fault is None:
            out[index] = replace(again, probe=first.probe)
            out.append(replace(first, repeat=_TRIED, stopped="it got a longer time in another run"))
    return tuple(out)


def default_workers() -> int:
    """One sandbox per core, two at least (starting one is mostly waiting), eight at most."""
    return min(8, max(2, len(os.sched_getaffinity(0))))


def _turns(plan: ExecutionPlan) -> Iterator[_Turn]:
    """Needed turns first, repeats of base last, so that a spent budget costs the least."""
    if not plan.probes:
        return
    if not any(probe.phase == "idle" for probe in plan.probes):
        yield _Turn(probe=IDLE, side="base")
    for probe in plan.probes:
        for side in probe.sides:
            yield _Turn(probe=probe, side=side)
    for probe in plan.probes:
        if "base" in probe.sides and probe.phase != "idle":
            yield _Turn(probe=probe, side="base", repeat=1)


def _left_out(turn: _Turn, budget: float) -> RunRecord:
    return RunRecord(
        probe=turn.probe,
        side=turn.side,
        outcome=Outcome.NEVER_STARTED,
        exit_code=None,
        seconds=0.0,
        peak_memory=None,
        completed=False,
        trace=None,
        completeness=Completeness(truncated=True),
        fault=f"the time budget of {budget:.0f} s was spent before this probe could start",
        repeat=turn.repeat,
    )
