"""One weakness on one line is one finding, however many tools tell it.

Told together are findings of reading that different tools made of the same code: same file, lines of which
one holds the other's, a weakness (CWE) and a topic in common. The more precise one leads: a rule that follows
values before Bandit, which does not. It keeps the most points that any of them has, so that nothing is
counted less for being told by more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import FindingStage
from gate.policy.policy_file import Policy

ALSO: Final = "also seen by"
_GENERAL: Final = frozenset({20, 200, 400, 506})
"""Weaknesses that say too little to be the same one: improper input, exposure, resources, malice."""
_IMPRECISE: Final = "bandit"
_QUOTED: Final = 20
"""A shape quotes no more lines after the first (gate/prescreen)."""


def merge_duplicate_findings(findings: Iterable[Finding], policy: Policy) -> tuple[Finding, ...]:
    """The findings, each weakness of a line once; the others are named in its evidence. Idempotent."""
    kept: list[Finding] = []
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        static = finding.stage is FindingStage.PRESCREEN and finding.primary.line is not None
        if static and ALSO not in finding.evidence:
            by_file[finding.primary.path].append(finding)
        else:
            kept.append(finding)
    for found in by_file.values():
        kept += _joined(found, policy)
    return tuple(kept)


def tool_of(finding: Finding) -> str:
    """Whose rule it is, by its name: ``bandit-b602`` bandit's, ``py.sql-built`` that of our ``py`` rules."""
    name = finding.rule_id
    return name.partition("." if "." in name else "-")[0]


def _joined(found: list[Finding], policy: Policy) -> list[Finding]:
    """The findings of one file. Whoever leads was asked for first, so no chain of three goes astray."""
    leads: list[Finding] = []
    also: dict[int, list[Finding]] = defaultdict(list)
    for finding in sorted(found, key=lambda f: _precision(f, policy)):
        fits = [i for i, lead in enumerate(leads) if _same(lead, finding) and _one_place(also[i], finding)]
        if fits:
            also[min(fits, key=lambda i: _distance(leads[i].primary, finding.primary))].append(finding)
        else:
            leads.append(finding)
    return [_with(lead, also[i], policy) if also[i] else lead for i, lead in enumerate(leads)]


def _precision(finding: Finding, policy: Policy) -> tuple[object, ...]:
    """Who leads, first; no two different findings are alike, so that the order they came in does not show."""
    at = finding.primary
    vague = tool_of(finding) == _IMPRECISE
    place = (at.line, at.end_line or 0, finding.rule_id, finding.shape)
    rest = (finding.cwe, finding.topic, str(finding.severity), str(finding.confidence))
    return (vague, -policy.points_of(finding), *place, *rest)


def _same(lead: Finding, other: Finding) -> bool:
    shared = set(lead.cwe) & set(other.cwe) - _GENERAL
    here, there = _lines(lead.primary), _lines(other.primary)
    inside = (here[0] <= there[0] and there[1] <= here[1]) or (there[0] <= here[0] and here[1] <= there[1])
    return inside and bool(shared) and lead.topic == other.topic and tool_of(lead) != tool_of(other)


def _one_place(others: list[Finding], new: Finding) -> bool:
    """A tool that names two places means two things: a wide finding of ours takes one of them in."""
    return all(o.primary.line == new.primary.line for o in others if tool_of(o) == tool_of(new))


def _lines(at: Location) -> tuple[int, int]:
    first = at.line or 0
    return first, max(first, at.end_line or first)


def _distance(one: Location, other: Location) -> tuple[int, int]:
    """How far apart two places begin, then end, in lines."""
    a, b = _lines(one), _lines(other)
    return abs(a[0] - b[0]), abs(a[1] - b[1])


def _with(lead: Finding, others: list[Finding], policy: Policy) -> Finding:
    strongest = max([lead, *others], key=policy.points_of)  # the first of equals: the lead
    named = dict.fromkeys(_named(lead, other) for other in others)
    # an override of the lead stands for what its shape quotes, and that is cut
    unquoted = [o.shape for o in others if (o.primary.line or 0) - (lead.primary.line or 0) > _QUOTED]
    return replace(
        lead,
        shape="\n".join([lead.shape, *unquoted]),
        severity=strongest.severity,
        confidence=strongest.confidence,
        evidence={ALSO: ", ".join(named), **lead.evidence},
        suppressed_by=next((f.suppressed_by for f in (lead, *others) if f.suppressed_by), None),
        hard_block=lead.hard_block or any(policy.blocks(f) for f in others),
    )


def _named(lead: Finding, other: Finding) -> str:
    line = other.primary.line
    return other.rule_id if line == lead.primary.line else f"{other.rule_id} (line {line})"
