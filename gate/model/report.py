"""Everything a reporter receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gate.dataclass import dataclass
from gate.model.attribution import CommitAttribution
from gate.model.behaviour import BehaviourDiff
from gate.model.change import Change
from gate.model.doubt import Doubt
from gate.model.excerpt import Excerpt
from gate.model.exercised import Exercised
from gate.model.exploit import Proof
from gate.model.finding import Finding
from gate.model.override import OverrideDecision
from gate.model.rule import RuleMeta
from gate.model.run import Completeness, NotExercised, RunRecord
from gate.model.score import Score, Thresholds, Verdict
from gate.model.stage import Stage


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxReport:
    """Which backend was used and what ran behind it. None where nothing ran."""

    backend: str | None = None
    isolation: str | None = None
    tracer: str | None = None
    completeness: Completeness = field(default_factory=Completeness)
    runs: tuple[RunRecord, ...] = ()
    not_exercised: tuple[NotExercised, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportProvenance:
    """When a check ended (seconds since 1970) and what judged: sha256 in hex of rules and settings
    together, of the rules alone, and of the program (gate/policy/digest.py).
    """

    at: int
    policy: str
    rules: str
    gate: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The result of one check. ``findings`` are fingerprinted and worst first; ``reasons`` say in
    one line each why the verdict is what it is; ``rules`` describes the rules that found
    something. ``settings_origin`` maps a setting's name to where its value came from.
    """

    gate_version: str
    change: Change
    verdict: Verdict
    score: Score
    thresholds: Thresholds
    reasons: tuple[str, ...]
    commits: tuple[CommitAttribution, ...]
    findings: tuple[Finding, ...]
    behaviour: BehaviourDiff
    sandbox: SandboxReport
    stages: tuple[Stage, ...]
    rules: Mapping[str, RuleMeta]
    timings: Mapping[str, float]
    settings_origin: Mapping[str, str] = field(default_factory=dict)
    overrides: tuple[OverrideDecision, ...] = ()
    made: ReportProvenance | None = None
    pull_request: int | None = None
    """The pull request that was looked at."""
    tree: str | None = None
    """Head's tree, as an object name."""
    doubts: tuple[Doubt, ...] = ()
    """Of whoever publishes the report, never out of a file."""
    exercised: Exercised | None = None
    """Which changed code ran; None where nobody counted (a report of an older version)."""
    proofs: tuple[Proof, ...] = ()
    """What attacks proved, also what was so before."""
    excerpts: tuple[Excerpt, ...] = ()
    """Code around the worst findings."""
    blob_url: str | None = None
    """Where head's files can be read on the forge, without a slash at the end; None where nobody knows."""
