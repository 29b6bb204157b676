"""A second, longer chance for what ran out of time on one side only.

How slow they are depends on the machine and on what base itself takes, not on a number of ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.model.run import Outcome, Phase, Probe, RunRecord
from gate.plan.probes import MARGIN, job_of

PATIENT: Final[tuple[Phase, ...]] = ("install", "script")
"""Phases in which long work is ordinary. An import or a call that does not end is told at once, unless base
took a good part of the time as well."""
_GOOD_PART: Final = 0.25
"""Share of the deadline from which on base's own time makes a longer one fair in every phase."""
TIMES: Final = 3.0
"""How many times the first deadline the second chance gets at least."""
_ENOUGH: Final = 90.0
"""Seconds beyond which a second chance is longer only where the first deadline was, or the other took long:
on a busy machine the first deadline was long already."""
_OF_THE_OTHER: Final = 6.0
"""How many times what the other side took."""
_STEP: Final = 5.0
"""Seconds the driver grants one step of a script unless told otherwise (driver/program_runner.py)."""


def second_chances(records: Sequence[RunRecord]) -> list[tuple[int, float]]:
    """Which records ran out of time where the other side did not, and the deadline that they should get.

    Where both sides ran out it is a server, or a loop that main has too: unchanged.
    """
    first = {(r.probe.id, r.side): r for r in records if r.repeat == 0 and r.fault is None}
    chances = []
    for index, record in enumerate(records):
        if record.repeat or record.fault or record.stopped or not ran_out(record):
            continue
        other = first.get((record.probe.id, "base" if record.side == "head" else "head"))
        took = other.seconds if other else 0.0
        if record.probe.phase not in PATIENT and took < _GOOD_PART * record.probe.deadline:
            continue
        if other is None or not ran_out(other):
            chances.append((index, _longer(record.probe.deadline, took)))
    return chances


def _longer(deadline: float, took: float) -> float:
    """The second deadline, where the first was ``deadline`` and the other side ``took`` so many seconds."""
    return max(min(TIMES * deadline, _ENOUGH), deadline, _OF_THE_OTHER * took)


def ran_out(record: RunRecord) -> bool:
    """True when the host, the driver or a step's own limit ended it for its time."""
    items = record.driver_report.get("items")
    told = items if isinstance(items, list) else []
    return record.outcome is Outcome.TIMED_OUT or any(
        isinstance(item, Mapping) and item.get("outcome") == "timed-out" for item in told
    )


def only_head_ran_out(head: RunRecord, base: RunRecord | None) -> bool:
    """True when ``head`` ran out of time where ``base`` (None: not run) took no good part of it."""
    if not ran_out(head):
        return False
    return base is None or not (ran_out(base) or base.seconds >= _GOOD_PART * base.probe.deadline)


def patient(probe: Probe, deadline: float) -> Probe:
    """The same probe with ``deadline`` seconds, and its steps with as many times theirs."""
    if not probe.driver:
        return replace(probe, deadline=deadline)
    job = job_of(probe)
    job["seconds"] = max(2.0, deadline - MARGIN)
    job["each_script"] = float(job.get("each_script", _STEP)) * deadline / probe.deadline
    return replace(probe, deadline=deadline, argv=(*probe.argv[:-1], json.dumps(job, sort_keys=True)))
