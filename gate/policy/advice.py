"""What a language model says never blocks: its points count only where they do not lead to *fail*."""

from __future__ import annotations

from collections.abc import Sequence

from gate.model.finding import Finding
from gate.model.score import Score
from gate.opinion.interface import CONCERN
from gate.policy.policy_file import Policy
from gate.policy.score import score

LEFT_OUT = "what the language model says is left out of the score: it never blocks"


def advised_score(
    findings: Sequence[Finding], policy: Policy, *, fail: int, ai_attributed: bool
) -> tuple[Score, tuple[str, ...]]:
    """The score, and a reason where advice had to be left out of it. Advice can only add points."""
    total = score(findings, policy, ai_attributed=ai_attributed)
    firm = [f for f in findings if f.rule_id != CONCERN.id]
    if len(firm) == len(findings) or total.value < fail:
        return total, ()
    without = score(firm, policy, ai_attributed=ai_attributed)
    return (total, ()) if without.value >= fail else (without, (LEFT_OUT,))
