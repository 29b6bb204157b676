"""What the stages of one check share: what they look at and with, and what came of it so far."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import field
from pathlib import Path
from typing import Protocol

from gate.change.interface import OpenChange
from gate.dataclass import dataclass
from gate.model.attribution import CommitAttribution
from gate.model.behaviour import BehaviourDiff
from gate.model.canary import Canary
from gate.model.change import PullRequest
from gate.model.exercised import Exercised
from gate.model.exploit import Attacks
from gate.model.finding import Finding
from gate.model.forced import ForcedLine
from gate.model.guard_calls import OpenedGuard
from gate.model.report import SandboxReport
from gate.model.run import ExecutionPlan, RunRecord
from gate.model.stage import SkipReason, Stage, StageOutcome
from gate.model.varied import VariedSecrets
from gate.plan.line_coverage import Coverage
from gate.plan.source_readings import Readings
from gate.prescreen.interface import Prescreened
from gate.settings import Settings
from gate.stages.judgement import Evidence
from gate.stages.pace import measure
from gate.stages.progress import Watch


class EvidenceSink(Protocol):
    """Who stores evidence (gate/replay.py)."""

    def runs(self, records: tuple[RunRecord, ...]) -> None:
        """Every run, while its trace exists."""
        ...

    def rest(self, evidence: Evidence) -> None:
        """Everything else, once."""
        ...


@dataclass
class Ending:
    """How a running stage will be reported to have ended; done, unless it says otherwise."""

    outcome: StageOutcome = StageOutcome.DONE
    reason: str = ""
    skip_reason: SkipReason | None = None

    def failed(self, reason: str) -> None:
        """It could not look at all."""
        self._set(StageOutcome.FAILED, reason)

    def degraded(self, reason: str) -> None:
        """It could not look at a part."""
        self._set(StageOutcome.DEGRADED, reason)

    def skipped(self, why: SkipReason, *details: str) -> None:
        """There was nothing to look at, or nobody wanted it. ``details``: see SkipReason.text."""
        self._set(StageOutcome.SKIPPED, why.text(*details), why)

    def _set(self, outcome: StageOutcome, reason: str, skip_reason: SkipReason | None = None) -> None:
        self.outcome, self.reason, self.skip_reason = outcome, reason, skip_reason


@dataclass(frozen=True, kw_only=True)
class SandboxResult:
    """What came of running the change."""

    findings: tuple[Finding, ...] = ()
    attacks: Attacks = field(default_factory=Attacks)
    diff: BehaviourDiff = field(default_factory=BehaviourDiff)
    hosts_at_base: frozenset[str] = frozenset()
    report: SandboxReport = field(default_factory=SandboxReport)
    canaries: tuple[Canary, ...] = ()
    plan: ExecutionPlan = field(default_factory=lambda: ExecutionPlan(probes=()))
    forced: tuple[ForcedLine, ...] = ()
    varied: VariedSecrets = field(default_factory=VariedSecrets)
    guards: tuple[OpenedGuard, ...] = ()
    coverage: Coverage | None = None
    """None: nothing was run for want of a sandbox."""


@dataclass
class Results:
    """What the stages found. One stage writes a field; one that fails leaves what it had by then."""

    commits: tuple[CommitAttribution, ...] = ()
    attribution: tuple[Finding, ...] = ()
    prescreened: Prescreened = field(default_factory=lambda: Prescreened(findings=(), stages=()))
    """Its ``secrets`` are clear text, for redaction only."""
    readings: Readings = field(default_factory=Readings)
    sandbox: SandboxResult = field(default_factory=SandboxResult)
    exercised: Exercised | None = None
    opinion: tuple[Finding, ...] = ()
    """What a language model says; advice."""


@dataclass(frozen=True, kw_only=True)
class CheckContext:
    """One check. ``scratch`` is a folder that lives until the last stage has ended; ``guard`` turns every way
    in which a stage can fail into a Stage of ``stages`` (gate/check.py). Threads only append.
    """

    opened: OpenChange
    settings: Settings
    watch: Watch
    scratch: Path
    guard: Callable[[CheckContext, str], AbstractContextManager[Ending]]
    request: PullRequest | None = None
    keep: EvidenceSink | None = None
    pace: float = field(default_factory=measure)
    """How many times as long as usual everything may take on this machine just now."""
    results: Results = field(default_factory=Results)
    stages: list[Stage] = field(default_factory=list)
    beside: dict[str, Future[None]] = field(default_factory=dict)
    """Stages that run in another thread, by name."""

    def stage(self, name: str) -> AbstractContextManager[Ending]:
        """A stage of its own within another one, reported as that one is."""
        return self.guard(self, name)

    def wait(self, name: str) -> None:
        """Wait for a stage that runs beside this one. Raises what it raised."""
        self.beside[name].result()


@dataclass(frozen=True, kw_only=True)
class CheckStage:
    """One entry of the list in gate/check.py. ``run`` does the work: it reads and writes the context's
    results and says how it ended.
    """

    name: str
    run: Callable[[CheckContext, Ending], None]
    beside: bool = False
    """It runs in a thread of its own."""
    after: tuple[str, ...] = ()
    """Stages beside it that it begins after."""
    reported: bool = True
    """False: preparation for another stage, which fails with it when it waits for it."""
