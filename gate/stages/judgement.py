"""What a check has seen, as one value, and the report that it comes to. Looks at nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import msgspec

from gate import __version__
from gate.change.interface import OpenChange
from gate.dataclass import dataclass
from gate.model.attribution import CommitAttribution
from gate.model.behaviour import BehaviourDiff
from gate.model.canary import Canary
from gate.model.change import Change
from gate.model.exercised import Exercised
from gate.model.exploit import HeldSink, Proof
from gate.model.finding import Finding, fingerprinted, worst_first
from gate.model.forced import ForcedLine
from gate.model.guard_calls import OpenedGuard
from gate.model.override import Override
from gate.model.report import Report, ReportProvenance, SandboxReport
from gate.model.stage import Stage
from gate.model.varied import VariedSecrets
from gate.policy import digest, override
from gate.policy.advice import advised_score
from gate.policy.attacked_and_held import attacked_and_held
from gate.policy.duplicates import merge_duplicate_findings
from gate.policy.policy_file import load_policy
from gate.policy.unrun import unrun_findings
from gate.policy.unrun_destinations import weighed
from gate.policy.verdict import decide
from gate.redaction import SHORTEST, without
from gate.report.redaction import redact_report
from gate.settings import Settings
from gate.signals.forced import forced_findings
from gate.signals.guards import guard_findings
from gate.signals.proof_kit import ProofContext
from gate.signals.run import proof_findings
from gate.signals.varied import doubt_findings, varied_findings
from gate.stages.rule_index import metas_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Everything that judging needs. ``static`` are the findings of reading, ``behaviour`` those of running.

    ``secrets`` (and those of ``planted``) are clear text, for redaction only. ``ended`` is when the check
    ended, seconds since 1970; ``asked`` the overrides that somebody asked for; ``timings`` seconds by stage.
    """

    change: Change
    settings: Settings
    commits: tuple[CommitAttribution, ...]
    static: tuple[Finding, ...]
    behaviour: tuple[Finding, ...]
    diff: BehaviourDiff
    sandbox: SandboxReport
    planted: tuple[Canary, ...]
    secrets: tuple[str, ...]
    stages: tuple[Stage, ...]
    asked: tuple[Override, ...]
    ended: float
    timings: Mapping[str, float] = field(default_factory=dict)
    exercised: Exercised | None = None
    forced: tuple[ForcedLine, ...] = ()
    proofs: tuple[Proof, ...] = ()
    """What attacks proved; findings are made of them here, so that a bundle needs no more."""
    varied: VariedSecrets = field(default_factory=VariedSecrets)
    """What followed the planted secrets; as above."""
    guards: tuple[OpenedGuard, ...] = ()
    """Guards that accept what base refuses; as above."""
    held: tuple[HeldSink, ...] = ()
    """Calls that ordinary values reached in an attack, and no payload."""
    hosts_at_base: tuple[str, ...] = ()
    """Of the hosts of new behaviour, those that the program code of base names."""


def requested_overrides(opened: OpenChange) -> tuple[Override, ...]:
    """The overrides that the base commit holds; never the head's (CF-7), nor those of loose files.

    Raises UsageError for a file that cannot be read.
    """
    if opened.change.base is None:
        return ()
    try:
        raw = opened.config.read(override.FILE)
    except KeyError:
        return ()
    return override.parse_file(raw)


def judge(seen: Evidence) -> Report:
    """Score, verdict and report. Equal evidence gives an equal report, under the same rules."""
    policy, settings = load_policy(), seen.settings
    unrun = unrun_findings(seen.exercised, seen.forced) if seen.exercised else ()
    proven = proof_findings(ProofContext(change=seen.change, proofs=seen.proofs))
    forced = forced_findings(seen.forced)
    varied = varied_findings(seen.varied.dependences) + doubt_findings(seen.varied.doubted)
    told = weighed(seen.static, seen.exercised) + seen.behaviour
    told = attacked_and_held(told + guard_findings(seen.guards, seen.behaviour), seen.held, seen.proofs)
    every = _shapes(told + proven + forced + varied + unrun, seen.secrets)
    findings = worst_first(fingerprinted(merge_duplicate_findings(every, policy)))
    by_ai = any(commit.is_ai for commit in seen.commits)
    thresholds = settings.thresholds_for(is_ai=by_ai)
    total, left_out = advised_score(findings, policy, fail=thresholds.fail, ai_attributed=by_ai)
    verdict, reasons = decide(
        score=total,
        findings=findings,
        stages=seen.stages,
        thresholds=thresholds,
        sandbox=seen.sandbox,
        no_sandbox=not settings.config.sandbox.enabled,
    )
    report = Report(
        gate_version=__version__,
        change=seen.change,
        verdict=verdict,
        score=total,
        thresholds=thresholds,
        reasons=reasons + left_out,
        commits=seen.commits,
        findings=findings,
        behaviour=seen.diff,
        sandbox=seen.sandbox,
        stages=seen.stages,
        rules=metas_of({finding.rule_id for finding in findings}),
        timings=seen.timings,
        settings_origin=settings.origin,
        made=_made(settings, seen.ended),
        exercised=seen.exercised,
        proofs=seen.proofs,
    )
    hard = settings.config.override.hard_blocks
    report = override.apply(report, seen.asked, now=seen.ended, hard_blocks=hard)
    planted = tuple(text for canary in seen.planted for text in canary.secrets)
    return redact_report(report, seen.secrets + planted)


def _shapes(findings: tuple[Finding, ...], secrets: tuple[str, ...]) -> tuple[Finding, ...]:
    """No secret goes into a fingerprint: it could be guessed from it, and stored evidence lacks it."""
    known = tuple(secret for secret in secrets if len(secret) >= SHORTEST)
    return tuple(replace(f, shape=without(f.shape, known)) for f in findings) if known else findings


def _made(settings: Settings, ended: float) -> ReportProvenance:
    policy = digest.policy_digest(msgspec.to_builtins(settings.config))
    return ReportProvenance(
        at=int(ended), policy=policy, rules=digest.rules_digest(), gate=digest.gate_digest()
    )
