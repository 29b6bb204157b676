"""What the way a run ended says by itself: limits, early ends, and looks that were not whole."""

from __future__ import annotations

from typing import Final

from gate.model.behaviour import FORGED, BehaviourKind
from gate.model.cut_short import NOT_RUN
from gate.model.leftover import left_running
from gate.model.run import Outcome, RunRecord
from gate.tracing.behaviour.accumulator import Cells

_LIMITS: Final = {Outcome.TIMED_OUT: "wall-time", Outcome.OUT_OF_MEMORY: "memory"}
_FLOOD: Final = 8 << 20


def outcome_behaviours(record: RunRecord, cells: Cells) -> None:
    """Add behaviours of the kinds limit, exit and evade. A run that our side lost adds none."""
    if record.fault is not None:
        return
    limit = _LIMITS.get(record.outcome)
    code = "" if record.exit_code is None else str(record.exit_code)
    if record.stopped and record.stopped != NOT_RUN:
        return
    if record.stopped:
        pass  # we cut it short, which says nothing of the code
    elif limit is not None:
        cells.add(BehaviourKind.LIMIT, limit)
    elif record.outcome is Outcome.KILLED:
        cells.add(BehaviourKind.EXIT, "killed", "", {"exit_code": code})
    elif record.outcome is not Outcome.NEVER_STARTED and record.probe.driver and not record.completed:
        cells.add(BehaviourKind.EXIT, "without-completion", "", _ended(record, code))
    if any(item.get("forged") is True for item in _items(record)):
        cells.add(BehaviourKind.EXIT, FORGED)
    if record.stdout_total + record.stderr_total >= _FLOOD:
        cells.add(BehaviourKind.LIMIT, "output")
    if left_running(record):
        cells.add(BehaviourKind.EXIT, "left-running")
    lost = record.completeness
    if not lost.whole:
        detail = {
            "dropped": str(lost.dropped),
            "unparsed": str(lost.unparsed),
            "truncated": str(lost.truncated),
        }
        cells.add(BehaviourKind.EVADE, "trace-incomplete", "", detail)


def _how(record: RunRecord) -> str:
    """What kept the driver from saying *done* where that is told, and the same for all: ``threads-left`` or
    ``timed-out``. A hint, for the words only. Empty: something ended it.
    """
    ends = [item.get("outcome") for item in _items(record)]
    told = [how for how in ("threads-left", "timed-out", "ended") if how in ends]
    return told[0] if len(told) == 1 and told != ["ended"] and record.exit_code == 1 else ""


def _ended(record: RunRecord, code: str) -> dict[str, str]:
    """What is known of an early end: the exit code of all, how, with which status an item left,
    and whether calls behind those that ended it were never made.
    """
    left = [item.get("exit_code") for item in _items(record) if item.get("outcome") == "ended"]
    status = next((str(told) for told in left if type(told) is int), "")
    behind = any(item.get("outcome") == "ended" and item.get("not_called") for item in _items(record))
    return {"exit_code": code, "how": _how(record), "status": status, "behind": "yes" if behind else ""}


def _items(record: RunRecord) -> list[dict[str, object]]:
    items = record.driver_report.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
