"""Builds findings for the tests of score and verdict."""

from __future__ import annotations

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, Severity


def finding(
    stage: str = "prescreen",
    severity: str = "high",
    confidence: str = "high",
    *,
    rule: str = "",
    topic: str = "exec",
    path: str = "a.py",
    line: int | None = 1,
    shape: str = "x",
    suppressed_by: str | None = None,
    hard_block: bool = False,
) -> Finding:
    """One finding; the rule's id is made from topic and stage unless given."""
    return Finding(
        rule_id=rule or f"{stage}-{topic or 'none'}",
        stage=FindingStage(stage),
        severity=Severity(severity),
        confidence=Confidence(confidence),
        message="m",
        locations=(Location(path=path, line=line),),
        shape=shape,
        topic=topic,
        suppressed_by=suppressed_by,
        hard_block=hard_block,
    )
