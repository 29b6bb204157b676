"""The one value that everything which looks produces."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final, Self

from gate.dataclass import dataclass
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.regex import regex

FINGERPRINT: Final = regex(r"[0-9a-f]{32}")
"""What the fingerprint of a finding looks like."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing worth a reader's attention.

    ``message`` is one sentence without text from the change; what comes from the change goes
    into ``evidence`` (short strings, untrusted, secrets already redacted).
    ``shape`` is what makes the finding the same finding tomorrow: the normalised source line
    or the behaviour's subject; never the message, never a line number.
    ``topic`` as in RuleMeta. ``suppressed_by`` tells an author's own suppression
    (``nosec`` ...): shown, never obeyed. ``hard_block`` asks policy for a fail whatever the score.
    """

    rule_id: str
    stage: FindingStage
    severity: Severity
    confidence: Confidence
    message: str
    locations: tuple[Location, ...]
    shape: str
    topic: str = ""
    cwe: tuple[int, ...] = ()
    evidence: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    suppressed_by: str | None = None
    hard_block: bool = False

    def __post_init__(self) -> None:
        if not any(loc.kind == "primary" for loc in self.locations):
            raise ValueError(f"finding {self.rule_id} has no primary location")

    @classmethod
    def of(
        cls,
        rule: RuleMeta,
        message: str,
        place: Location,
        *,
        shape: str,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        evidence: Mapping[str, str] | None = None,
    ) -> Self:
        """A finding of a rule; ``severity`` and ``confidence`` replace the rule's own."""
        return cls(
            rule_id=rule.id,
            stage=rule.stage,
            severity=severity or rule.severity,
            confidence=confidence or rule.confidence,
            message=message,
            locations=(place,),
            shape=shape,
            topic=rule.topic,
            cwe=rule.cwe,
            evidence=evidence or {},
        )

    @property
    def primary(self) -> Location:
        """The place to show first."""
        return next(loc for loc in self.locations if loc.kind == "primary")


def fingerprint_of(rule_id: str, path: str, shape: str, occurrence: int = 0) -> str:
    """32 hex digits that stay the same while rule, path and shape do (line moves do not count).

    ``occurrence`` numbers equal findings in one file from 0: three copies are three findings.
    """
    text = "\0".join((rule_id, path, " ".join(shape.split()), str(occurrence)))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def fingerprinted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in a fixed order, each with its fingerprint, multiplicity counted."""
    ordered = sorted(
        findings, key=lambda f: (f.rule_id, f.primary.path, f.primary.line or 0, f.shape, f.message)
    )
    seen: Counter[tuple[str, str, str]] = Counter()
    out = []
    for f in ordered:
        key = (f.rule_id, f.primary.path, " ".join(f.shape.split()))
        out.append(replace(f, fingerprint=fingerprint_of(*key, occurrence=seen[key])))
        seen[key] += 1
    return tuple(out)


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Hard blocks, then severity, confidence, what was seen happening before what was read; ties by place."""
    return tuple(sorted(findings, key=_order))


def _order(finding: Finding) -> tuple[object, ...]:
    place = finding.primary
    return (
        not finding.hard_block,
        -finding.severity.rank,
        -finding.confidence.rank,
        finding.stage is not FindingStage.BEHAVIOUR,
        place.path,
        place.line or 0,
        finding.rule_id,
        finding.fingerprint,
    )
