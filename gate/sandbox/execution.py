"""Runs a plan: an idle probe, every probe at base and head, and base once more to learn its noise."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, TypeVar

from gate.dataclass import dataclass
from gate.model.change import Side
from gate.model.cut_short import NOT_RUN
from gate.model.run import Completeness, ExecutionPlan, Outcome, Probe, RunRecord
from gate.plan.retries import patient, ran_out, second_chances
from gate.sandbox.contract import Session
from gate.sandbox.patience import Patience

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

_LONG: Final = {"install": 0, "import": 1, "test": 2, "script": 3, "call": 4}
"""Phases that usually take longer than others, the longest first; but imports ahead of what imports, too: one
that never ends is to be known by then."""
_TRIED: Final = 9
"""The number of a try that another run with more time took the place of."""
Progress = Callable[[str], None]
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Turn:
    probe: Probe
    side: Side
    repeat: int = 0


def execute(
    session: Session,
    plan: ExecutionPlan,
    *,
    patience: Patience,
    progress: Progress | None = None,
    workers: int | None = None,
    differs: Callable[[tuple[RunRecord, ...]], Collection[str]] | None = None,
) -> tuple[RunRecord, ...]:
    """Run every probe of the plan on its sides and return one record per turn, in a fixed order.

    ``patience`` is the time for all of them. A turn that would start after it is spent is returned as
    ``never-started``: it is never silently missing. It is stopped with the reason NOT_RUN, and so is one that
    got less than its deadline and ran out of it. For what has no lines in the tree by which it could be
    judged (installations, packages) it is a fault. The repeat of base is the first to go: it is left out
    without a fault.
    ``progress`` is called with one line per finished turn, from worker threads. ``differs`` is asked for
    the ids of probes whose sides came out differently; where they did not there is no noise to tell from a
    difference, and base is not repeated (None: always repeated).
    """
    turns = tuple(turn for turn in _turns(plan) if not turn.repeat)
    repeats = tuple(turn for turn in _turns(plan) if turn.repeat)
    if not turns:
        return ()

    ended = itertools.count(1)  # its next() is one step, whatever the thread

    def one(turn: _Turn) -> RunRecord | None:
        if patience.left <= 0:
            return None if turn.repeat else _left_out(turn, patience.budget)
        record = _run(session, turn, patience.deadline(turn.probe, turn.side))
        patience.ended(record)
        if progress:
            number = next(ended)
            count = f"{number} of {max(number, len(turns))} runs, {max(0.0, patience.left):.0f} s left"
            progress(f"{count}; {turn.probe.target} at {turn.side}: {record.outcome.value}")
        return record

    session.expect(len(turns) if differs else len(turns) + len(repeats))
    beside = workers or default_workers()
    pool = ThreadPoolExecutor(max_workers=beside, thread_name_prefix="probe")
    try:
        records = _in_turn(
            pool, one, turns if differs else turns + repeats, fits=_fits(turns, beside, patience.left)
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
    return _with_second_chances(session, done, patience, progress)


def _run(session: Session, turn: _Turn, deadline: float) -> RunRecord:
    """One turn, with that many seconds. Running out of fewer than its own says nothing about the code."""
    probe = turn.probe
    if deadline >= probe.deadline:
        return session.run(probe, turn.side, repeat=turn.repeat)
    record = replace(session.run(patient(probe, deadline), turn.side, repeat=turn.repeat), probe=probe)
    return replace(record, stopped=record.stopped or NOT_RUN) if ran_out(record) else record


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
    session: Session, records: list[RunRecord], patience: Patience, progress: Progress | None
) -> tuple[RunRecord, ...]:
    """What ran out of time on one side only is run once more with a longer one, and what our own side lost
    is tried again.

    The first try stays as a repeat: what was seen in it counts, that it was cut short does not. Nothing else
    runs beside it, and what does not fit into the budget is not begun; nor are others, once one was in vain.
    """
    out = [_tried_again(session, record, patience) for record in records]
    for index, deadline in second_chances(records):
        first = records[index]
        if not patience.chance(first.probe, deadline):
            continue
        again = session.run(patient(first.probe, deadline), first.side)
        if progress:
            progress(f"{first.probe.target} at {first.side}, with more time: {again.outcome.value}")
        if ran_out(again):
            patience.in_vain()
        if again.fault is None:
            out[index] = replace(again, probe=first.probe)
            out.append(replace(first, repeat=_TRIED, stopped="it got a longer time in another run"))
    return tuple(out)


def _tried_again(session: Session, record: RunRecord, patience: Patience) -> RunRecord:
    """The same turn once more where no code was begun: a sandbox that did not start has nothing to hide."""
    lost = record.fault is not None and record.outcome is Outcome.NEVER_STARTED
    if not lost or patience.left <= 0:
        return record
    again = session.run(record.probe, record.side, repeat=record.repeat)
    return again if again.fault is None else record


def side_by_side(session: Session, one: Callable[[T], R], turns: Sequence[T], *, name: str) -> list[R]:
    """``one`` of every turn, as many at a time as there is room for, in the order of the turns. ``name`` is
    the threads'. What is raised, an interrupt too, ends the sandboxes that run: no deadline is waited for.
    """
    session.expect(len(turns))
    with ThreadPoolExecutor(max_workers=default_workers(), thread_name_prefix=name) as pool:
        try:
            return list(pool.map(one, turns))
        except BaseException:
            session.abort()
            raise


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


def turns_of(plan: ExecutionPlan) -> Iterator[tuple[Probe, Side]]:
    """What of a plan is run in any case, without repeats."""
    return ((turn.probe, turn.side) for turn in _turns(plan) if not turn.repeat)


def _left_out(turn: _Turn, budget: float) -> RunRecord:
    unasked = turn.probe.phase in ("install", "idle") or bool(turn.probe.dependency)
    return RunRecord(
        probe=turn.probe,
        side=turn.side,
        outcome=Outcome.NEVER_STARTED,
        exit_code=None,
        seconds=0.0,
        peak_memory=None,
        completed=False,
        trace=None,
        completeness=Completeness(truncated=unasked),
        fault=f"the time budget of {budget:.0f} s was spent before this probe could start"
        if unasked
        else None,
        stopped="" if unasked else NOT_RUN,
        repeat=turn.repeat,
    )
