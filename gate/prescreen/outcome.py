"""How a scanner ends: its findings, and every file it could not look at named with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.model.stage import Stage, StageOutcome
from gate.prescreen.interface import Prescreened

_NAMED: Final = 5

UNSCANNED: Final = RuleMeta(
    id="unscanned-file",
    title="A changed file could not be looked at",
    stage=FindingStage.PRESCREEN,
    severity=Severity.MEDIUM,
    confidence=Confidence.HIGH,
    help="A file that stops a scanner (nesting, size, encoding, broken syntax) would otherwise be the place "
    "to hide code. What it holds is unknown, so the check cannot end green.",
    remediation="Make the file parse (if it is written for a newer Python, run gate on that one), split it, "
    "or leave generated data out; then run the check again.",
    topic="unscanned",
    cwe=(1116,),
)


def ended(
    name: str,
    findings: Iterable[Finding],
    unlooked: Sequence[tuple[str, str]] = (),
    *,
    secrets: tuple[str, ...] = (),
) -> Prescreened:
    """What a scanner returns: done, or degraded when ``unlooked`` (path, reason) is not empty.

    Paths and reasons are named in the stage (the first few) and each path has a finding of its own.
    """
    unlooked = sorted(set(unlooked))
    stage = Stage(name=f"prescreen:{name}", outcome=StageOutcome.DONE)
    if unlooked:
        named = "; ".join(f"{_plain(path)}: {reason}" for path, reason in unlooked[:_NAMED])
        more = f" and {len(unlooked) - _NAMED} more" if len(unlooked) > _NAMED else ""
        stage = replace(stage, outcome=StageOutcome.DEGRADED, reason=f"could not look at {named}{more}")
    named_findings = [_unscanned(name, path, reason) for path, reason in unlooked]
    return Prescreened(findings=(*findings, *named_findings), stages=(stage,), secrets=secrets)


def _plain(path: str) -> str:
    return path.encode("ascii", "backslashreplace").decode()


def _unscanned(name: str, path: str, reason: str) -> Finding:
    return Finding(
        rule_id=UNSCANNED.id,
        stage=UNSCANNED.stage,
        severity=UNSCANNED.severity,
        confidence=UNSCANNED.confidence,
        message=f"{name} could not look at this file.",
        locations=(Location(path=path),),
        shape="unscanned",
        topic=UNSCANNED.topic,
        cwe=UNSCANNED.cwe,
        evidence={"reason": reason, "scanner": name},
    )
