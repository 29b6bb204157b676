"""From what a launcher said, and how the sandbox saw it end, to one RunRecord. The same for every backend."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path

from gate.dataclass import dataclass
from gate.model.change import Side
from gate.model.run import Completeness, Outcome, Probe, RunRecord, Touched
from gate.plan.item_outcomes import not_run
from gate.sandbox.protocol import Receiver
from gate.sandbox.transport import EndReason


@dataclass(frozen=True, kw_only=True)
class RunObservation:
    """What the host observed of a run and of its end.

    ``noise`` is the launcher's own stderr: it says why it could not even begin.
    """

    ending: EndReason
    seconds: float
    out_of_memory: bool = False
    peak_memory: int | None = None
    trace: Path | None = None
    network: Path | None = None
    touched: tuple[Touched, ...] | None = None
    heads: tuple[tuple[str, bytes], ...] = ()
    full: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    data_files: int = 0
    completeness: Completeness = field(default_factory=Completeness)
    noise: bytes = b""
    fault: str | None = None


def to_record(heard: Receiver, seen: RunObservation, probe: Probe, side: Side, repeat: int) -> RunRecord:
    """One record. What the code did is its outcome; what *we* failed at is its fault."""
    end = heard.end
    peaks = [peak for peak in (seen.peak_memory, end.peak_memory if end else None) if peak]
    made = RunRecord(
        probe=probe,
        side=side,
        outcome=_outcome(heard, seen),
        exit_code=end.status if end else None,
        seconds=end.seconds if end else seen.seconds,
        peak_memory=max(peaks, default=None),
        completed=end is not None and end.completed,
        trace=seen.trace,
        network=seen.network,
        touched=seen.touched,
        heads=seen.heads,
        full=seen.full,
        given=seen.given,
        cut=seen.cut,
        data_files=seen.data_files,
        completeness=seen.completeness,
        stdout=bytes(heard.stdout),
        stderr=bytes(heard.stderr),
        stdout_total=max(len(heard.stdout), end.stdout_total if end else 0),
        stderr_total=max(len(heard.stderr), end.stderr_total if end else 0),
        driver_report=heard.report,
        fault=_fault(heard, seen),
        repeat=repeat,
        stopped="a canary was opened" if end is not None and "canary" in end.limits_hit else "",
    )
    return replace(made, not_run=not_run(made))


def never_started(probe: Probe, side: Side, repeat: int, why: str, seconds: float = 0.0) -> RunRecord:
    """The record of a run that our side could not begin."""
    seen = RunObservation(
        ending="closed", seconds=seconds, fault=why, completeness=Completeness(truncated=True)
    )
    return to_record(Receiver(b""), seen, probe, side, repeat)


def _outcome(heard: Receiver, seen: RunObservation) -> Outcome:
    end = heard.end
    hit = end.limits_hit if end else ()
    if heard.started is None:
        return Outcome.NEVER_STARTED
    if seen.out_of_memory or "memory" in hit:
        return Outcome.OUT_OF_MEMORY
    if seen.ending == "deadline" or "wall" in hit:
        return Outcome.TIMED_OUT
    if end is None or end.status < 0:
        return Outcome.KILLED
    return Outcome.EXITED_NONZERO if end.status else Outcome.COMPLETED


def _fault(heard: Receiver, seen: RunObservation) -> str | None:
    """None when we looked properly. The order puts the cause before its consequences."""
    if seen.fault or heard.fault:
        return seen.fault or heard.fault
    if seen.ending == "stopped":
        return "the check was stopped"
    if heard.started is None:
        muttered = seen.noise.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        return f"the sandbox's launcher did not start the code: {muttered[-1][:300]}"
    if heard.end is None and seen.ending == "closed" and not seen.out_of_memory:
        return "the sandbox ended without its launcher's last word"
    if heard.end is not None and not heard.end.tracer_ok:
        return "the tracer did not see the whole run"
    return None
