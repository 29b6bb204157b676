"""The order in which every reporter tells things: the worst first, the same way every time."""

from __future__ import annotations

from collections.abc import Iterable

from gate.model.finding import Finding
from gate.model.stage import Stage, StageOutcome


def _key(finding: Finding) -> tuple[object, ...]:
    place = finding.primary
    return (
        not finding.hard_block,
        -finding.severity.rank,
        -finding.confidence.rank,
        finding.stage.value != "behaviour",  # what was seen happening before what was read
        place.path,
        place.line or 0,
        finding.rule_id,
        finding.fingerprint,
    )


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Hard blocks, then severity, confidence, seen before read, path, line, rule."""
    return sorted(findings, key=_key)


def could_not_look(stages: Iterable[Stage]) -> list[Stage]:
    """Stages that failed or looked only in part; every reporter must show them with their reasons."""
    return sorted(
        (s for s in stages if not s.looked), key=lambda s: (s.outcome is not StageOutcome.FAILED, s.name)
    )
