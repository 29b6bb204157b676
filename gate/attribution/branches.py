"""Evidence in the pull request's branch name, and in merge subjects that name a branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.attribution.rule_file import attribution_rules
from gate.model.attribution import AttributionEvidence, Strength
from gate.regex import regex

_MERGE: Final = regex(r"Merge pull request #\d+ from [\w.-]+/(?P<branch>\S+)")


def branch_evidence(branch: str, *, where: str = "branch") -> Iterator[AttributionEvidence]:
    """What a branch's name discloses about the pull request it carries."""
    for rule in attribution_rules().branch:
        if rule.regex.fullmatch(branch[:500]):
            # A merge commit that names a branch speaks of the merged request, not of itself.
            sure: Strength = rule.confidence if where == "branch" else "weak"
            yield AttributionEvidence(
                kind="branch",
                where=where,
                matched=branch[:200],
                tool=rule.tool,
                confidence=sure,
                role="author",
            )
            return


def merge_evidence(subject: str) -> Iterator[AttributionEvidence]:
    """The branch in ``Merge pull request #1 from owner/branch``: always weak."""
    match = _MERGE.match(subject)
    if match:
        yield from branch_evidence(match["branch"], where="merge subject")
