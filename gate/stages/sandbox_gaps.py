"""What a sandbox did not show: observers that its backend lacks, runs that were lost, file times."""

from __future__ import annotations

from collections.abc import Iterator

from gate.change.interface import OpenChange
from gate.escape import shorten
from gate.model.run import Capability, NotExercised, RunRecord
from gate.model.stage import SkipReason, Stage, StageOutcome
from gate.stages.clock_comparisons import compares_clock

_MOST_CAUSES = 3


def missing_observers(capability: Capability, wanted: str, network: str) -> Iterator[Stage]:
    """What this backend cannot look at, told where it could have been expected.

    ``wanted`` is the network of the settings, ``network`` the one that there is.
    """
    if capability.tracer == "none":  # the second observer of files has nothing to compare with
        yield _skipped("files", SkipReason.NO_TRACER, capability)
    if network != wanted:
        yield _skipped("network", SkipReason.NO_SIMULATED_NETWORK, capability)


def _skipped(name: str, why: SkipReason, capability: Capability) -> Stage:
    return Stage(
        name=name, outcome=StageOutcome.SKIPPED, reason=why.text(capability.backend), skip_reason=why
    )


def lost_runs(runs: tuple[RunRecord, ...]) -> str:
    """The runs that our side lost and the traces with holes, by cause; empty for a clean look."""
    causes: dict[str, list[str]] = {}
    for run in runs:
        if run.fault or not run.completeness.whole:
            cause = shorten(run.fault or "trace incomplete", 300)
            causes.setdefault(cause.strip(), []).append(f"{run.probe.target} at {run.side}")
    return "; ".join(
        f"{cause} ({names[0]}{f' and {len(names) - 1} more' if names[1:] else ''})"
        for cause, names in list(causes.items())[:_MOST_CAUSES]
    )


def unmoved_file_times(opened: OpenChange, runs: tuple[RunRecord, ...]) -> tuple[NotExercised, ...]:
    """Files that compare file times and were looked at with a moved clock, which does not reach those."""
    again = {run.probe.path for run in runs if run.side == "head" and run.probe.condition}
    why = "its clock was not moved for file times"
    asked = compares_clock(opened.change, opened.head) if again else {}
    return tuple(
        NotExercised(path=path, target="second look", reason=why)
        for path, file_times in asked.items()
        if file_times and path in again
    )
