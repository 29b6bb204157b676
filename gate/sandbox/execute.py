"""Runs a plan: an idle probe, every probe at base and head, and base once more to learn its noise."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from gate.model.change import Side
from gate.model.run import Completeness, ExecutionPlan, Outcome, Probe, RunRecord
from gate.sandbox.interface import Session

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
) -> tuple[RunRecord, ...]:
    """Run every probe of the plan on its sides and return one record per turn, in a fixed order.

    ``budget`` is seconds of wall time for all of them. A turn that would start after it is spent
    is returned as ``never-started`` with a fault: it is never silently missing. The repeat of
    base is the first to go: it is left out without a fault when the budget is spent.
    ``progress`` is called with one line per finished turn, from worker threads.
    """
    until = time.monotonic() + budget
    turns = tuple(_turns(plan))
    if not turns:
        return ()

    def one(turn: _Turn) -> RunRecord | None:
        if time.monotonic() >= until:
            return None if turn.repeat else _left_out(turn, budget)
        record = session.run(turn.probe, turn.side, repeat=turn.repeat)
        if progress:
            progress(f"{turn.probe.target} at {turn.side}: {record.outcome.value} in {record.seconds:.1f} s")
        return record

    session.expect(len(turns))
    pool = ThreadPoolExecutor(max_workers=workers or default_workers(), thread_name_prefix="probe")
    try:
        records = list(pool.map(one, turns))
    except BaseException:
        session.abort()  # an interrupt must not wait for deadlines
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return tuple(record for record in records if record is not None)


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
