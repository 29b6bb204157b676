"""Turns attributions into findings: one per tool, never one per commit."""

from __future__ import annotations

from typing import Final

from gate.attribution.spans import touched
from gate.model.attribution import CommitAttribution
from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage
from gate.rules_api import RuleKind

AI_AUTHORED: Final = RuleKind[object, object](FindingStage.ATTRIBUTION).meta(
    "attribution.ai-disclosed",
    "The change discloses AI authorship",
    severity="low",
    confidence="high",
    topic="authorship",
    why="At least one commit says that an AI tool wrote or co-wrote it. That is no fault; such changes "
    "read fluently and can still do what nobody asked for, so gate looks deeper.",
    fix="Review what the change does when it runs, not only how it reads.",
)
_PAGE: Final = """\
Told from trailers, identities, footers, sentences, git notes, Agent Trace records, branch names and the
pull request. The evidence lists exactly what matched. Weak evidence (a marker, a label, a bare first name) is
reported and never decides; a reviewer or finder is not an author. *Disclosed* is the word: a commit
without any of this may still be written by a tool. Attribution only raises scrutiny; no stage needs it.
"""

RULES: Final = ((AI_AUTHORED, _PAGE),)


def attribution_findings(change: Change, commits: tuple[CommitAttribution, ...]) -> tuple[Finding, ...]:
    """One finding per tool that the change discloses; nothing for a change without changed files."""
    tools: dict[str, list[CommitAttribution]] = {}
    for commit in commits:
        if commit.is_ai and commit.tool:
            tools.setdefault(commit.tool, []).append(commit)
    files = [file for file in change.files if file.new_mode] or list(change.files)
    if not files:
        return ()
    return tuple(_finding(tool, mine, change, files[0].path) for tool, mine in sorted(tools.items()))


def _finding(tool: str, mine: list[CommitAttribution], change: Change, path: str) -> Finding:
    sure = any(commit.confidence == "definite" for commit in mine)
    proof = next((e for c in mine for e in c.evidence if e.tool == tool and e.confidence != "weak"), None)
    evidence = {"tool": tool, "commits": f"{len(mine)} of {len(change.commits)}"}
    if proof:
        evidence |= {"matched": proof.matched, "where": proof.where}
    lines = attributed_line_count(mine, tool)
    if lines:
        evidence["lines"] = f"{lines} of {changed_line_count(change)} changed lines"
    return Finding.of(
        AI_AUTHORED,
        "Commits of this change disclose that an AI tool wrote or co-wrote them.",
        Location(path=path),
        shape=tool,
        confidence=Confidence.HIGH if sure else Confidence.MEDIUM,
        evidence=evidence,
    )


def attributed_line_count(commits: list[CommitAttribution], tool: str) -> int:
    """Changed head lines that line-level evidence gives to a tool."""
    return sum(b - a + 1 for c in commits for item in c.lines if item.tool == tool for a, b in item.lines)


def changed_line_count(change: Change) -> int:
    """All head lines that the change added or rewrote."""
    return sum(b - a + 1 for file in change.files for a, b in touched(file))
