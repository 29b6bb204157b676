"""How far a report is believed that came out of a job which the change could touch (GH-3, GH-5)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Final

import msgspec

from gate import __version__
from gate.errors import UsageError
from gate.model.finding import worst_first
from gate.model.report import Report
from gate.model.score import Verdict
from gate.policy.digest import policy_digest
from gate.policy.rules import load_policy
from gate.policy.score import score
from gate.policy.verdict import decide
from gate.report.from_json import as_report
from gate.report.json_v1 import decode
from gate.settings import Settings

_ORDER: Final = (Verdict.PASS, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.FAIL)


def received(raw: bytes, *, head: str) -> Report:
    """The report in the bytes of a report.json, if it is one of this version about this commit.

    Raises UsageError otherwise: nothing may be published then. Overrides it claims are left out; they are
    judged anew from what the API says.
    """
    report = as_report(decode(raw))
    if report.change.head != head:
        raise UsageError(
            f"the report is about {(report.change.head or 'no commit')[:12]}, the pull request's head is "
            f"{head[:12]}: not published",
            advice="A newer push makes its own report. Nothing from a report decides where it is posted.",
        )
    if report.gate_version != __version__:
        raise UsageError(
            f"the report is of gate {ascii(report.gate_version)[1:-1][:40]}, this is {__version__}",
            advice="Pin the same version in both workflows.",
        )
    return replace(report, overrides=())


def recomputed(report: Report, settings: Settings) -> Report:
    """The report with score and verdict made anew from its own findings and stages, and base's thresholds.

    A report that flatters itself is told with what its own evidence says; never with a better verdict.
    """
    policy = load_policy()
    total = score(report.findings, policy)
    thresholds = settings.thresholds_for(is_ai=any(commit.is_ai for commit in report.commits))
    verdict, reasons = decide(
        score=total,
        findings=report.findings,
        stages=report.stages,
        thresholds=thresholds,
        sandbox=report.sandbox,
        policy=policy,
    )
    if _ORDER.index(verdict) <= _ORDER.index(report.verdict):
        return replace(report, thresholds=thresholds)
    said = f"the report says {report.verdict.value}, its own evidence says {verdict.value}"
    return replace(
        report,
        verdict=verdict,
        score=total,
        thresholds=thresholds,
        reasons=(said, *reasons),
        findings=worst_first(report.findings),
    )


def doubted(report: Report, why: str) -> Report:
    """The same report as inconclusive (or fail, if it was): somebody could have written it himself."""
    if report.verdict is Verdict.FAIL:
        return replace(report, reasons=(*report.reasons, why))
    return replace(report, verdict=Verdict.INCONCLUSIVE, reasons=(why, *report.reasons))


def judged_by(report: Report, settings: Settings) -> str:
    """The policy digest to stamp on a verdict: 64 hex digits, as ``gate.policy.digest`` makes them.

    The report was made under one set of rules and settings, and is judged again here under ours. Where both
    are the same, that is the policy; where they are not (an input of one half only, another version's
    rules), neither can vouch for it, and what is stamped is accepted nowhere unless somebody names it.
    """
    ours = policy_digest(msgspec.to_builtins(settings.config))
    theirs = report.made.policy if report.made is not None else "unknown"
    return ours if theirs == ours else hashlib.sha256(f"{ours} {theirs}".encode()).hexdigest()
