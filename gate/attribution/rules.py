"""The rules of this room as `gate rules` and `gate explain` show them."""

from __future__ import annotations

from typing import Final

from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity

AI_AUTHORED: Final = RuleMeta(
    id="attribution.ai-disclosed",
    title="The change discloses AI authorship",
    stage=FindingStage.ATTRIBUTION,
    severity=Severity.LOW,
    confidence=Confidence.HIGH,
    help="At least one commit says that an AI tool wrote or co-wrote it. That is no fault; such changes "
    "read fluently and can still do what nobody asked for, so gate looks deeper.",
    remediation="Review what the change does when it runs, not only how it reads.",
    topic="authorship",
)
_PAGE: Final = """\
Told from trailers, identities, footers, sentences, git notes, Agent Trace records, branch names and the
pull request. The evidence lists exactly what matched. Weak evidence (a marker, a label, a bare first name) is
reported and never decides; a reviewer or finder is not an author. *Disclosed* is the word: a commit
without any of this may still be written by a tool. Attribution only raises scrutiny; no stage needs it.
"""

RULES: Final = ((AI_AUTHORED, _PAGE),)
