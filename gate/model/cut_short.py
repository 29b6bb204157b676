"""Whether the code of a run was seen to its end, and what kept it from that when it was not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gate.model.run import Outcome, RunRecord

NOT_RUN: Final = "there was no time to run it"
"""``RunRecord.stopped`` of a run that was left out, or got less than its deadline and ran out of it, because
the time for all of them was used up. Its code is judged as code that did not run."""
_WORDS: Final = {
    Outcome.TIMED_OUT: "ran out of time",
    Outcome.OUT_OF_MEMORY: "ran out of memory",
    Outcome.KILLED: "was ended by a signal",
    Outcome.NEVER_STARTED: "was not started",
}

_SLOW: Final = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.NEVER_STARTED)
_WAITED: Final = frozenset({"timed-out", "threads-left"})


def cut_short(run: RunRecord) -> str:
    """Why the rest of what it runs was not seen, in words; empty when there is no rest. A run that our own
    side lost (``fault``) is another matter.
    """
    if run.fault is not None or run.probe.phase == "idle":
        return ""
    if run.outcome is Outcome.NEVER_STARTED and run.stopped:
        return run.stopped
    if run.outcome in _WORDS:
        return _WORDS[run.outcome]
    if run.probe.driver and not run.completed:
        return "ended before the driver was through"
    return ""


def only_slow(run: RunRecord) -> bool:
    """True for a test or a call that took more time or memory than there was, or left threads: ordinary for
    what somebody asked for, and nothing that ended the look on purpose.
    """
    if run.probe.phase not in ("call", "test"):
        return False
    if run.outcome in _SLOW:
        return True
    items = run.driver_report.get("items")
    ends = (
        {item.get("outcome") for item in items if isinstance(item, Mapping)}
        if isinstance(items, list)
        else set()
    )
    return (
        run.outcome is Outcome.EXITED_NONZERO
        and run.exit_code == 1
        and ends & _WAITED != set()
        and "ended" not in ends
    )


def at_base_too(run: RunRecord, runs: Iterable[RunRecord]) -> bool:
    """True when the same probe was cut short at base as well: main does that, too."""
    twins = (other for other in runs if other.side == "base" and other.probe.id == run.probe.id)
    return any(cut_short(twin) for twin in twins)
