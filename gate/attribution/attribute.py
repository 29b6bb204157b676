"""Says for every commit of a change what it discloses about its author."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from gate.attribution.branches import branch_evidence, merge_evidence
from gate.attribution.findings import attribution_findings
from gate.attribution.footers import footer_evidence, may_be_footer, subject_evidence
from gate.attribution.identities import identity_evidence
from gate.attribution.markers import marker_evidence
from gate.attribution.message import Message, read_message
from gate.attribution.notes import line_evidence
from gate.attribution.prose import prose_evidence
from gate.attribution.requests import request_evidence
from gate.attribution.rule_file import attribution_rules
from gate.attribution.spans import Origins, to_head
from gate.attribution.trailers import trailer_evidence
from gate.errors import InconclusiveError
from gate.model.attribution import AttributedLines, AttributionEvidence, CommitAttribution, Strength
from gate.model.change import Change, Commit, PullRequest, Tree

__all__ = ["attribute", "attribute_commit", "attribution_findings"]

_RANK: Final[dict[Strength, int]] = {"weak": 0, "strong": 1, "definite": 2}
_WROTE: Final = frozenset({"author", "assistant", "suggestion"})
_VAGUE: Final = frozenset({"ai", "ai-reviewer"})
_MOST_EVIDENCE: Final = 50


def attribute(
    change: Change,
    head: Tree,
    notes: Mapping[str, tuple[bytes, ...]],
    *,
    origins: Origins | None = None,
    request: PullRequest | None = None,
    deadline: float = 60.0,
) -> tuple[CommitAttribution, ...]:
    """One attribution per commit, in the change's order.

    ``notes`` are note bodies by commit, ``origins`` answers which commit wrote which head lines,
    ``request`` is the pull request's own text. Evidence about the request as a whole (branch, body,
    labels, markers in changed lines) is told on the last commit. Raises InconclusiveError past
    ``deadline`` seconds (a range made of thousands of messages written to be slow).
    """
    until = time.monotonic() + deadline
    told = line_evidence(change, head, notes)
    placed = to_head(change, told.claims, origins)
    whole: list[AttributionEvidence] = []
    if change.commits:
        whole = [*marker_evidence(change, head), *(request_evidence(request) if request else ())]
        if not request and change.branch:
            whole += branch_evidence(change.branch)
    last = change.commits[-1].sha if change.commits else ""
    found = []
    for commit in change.commits:
        if time.monotonic() > until:
            raise InconclusiveError(
                f"attribution took more than {deadline:g} s",
                advice="Judge a smaller range, or look at its commit messages: they are made to be slow.",
            )
        extra = (*told.evidence.get(commit.sha, ()), *(whole if commit.sha == last else ()))
        found.append(attribute_commit(commit, extra=extra, lines=placed.get(commit.sha, ())))
    return tuple(found)


def attribute_commit(
    commit: Commit,
    *,
    extra: Iterable[AttributionEvidence] = (),
    lines: tuple[AttributedLines, ...] = (),
) -> CommitAttribution:
    """What one commit's identities and message disclose, with ``extra`` evidence from elsewhere.

    Weak evidence never decides, however much of it there is; nor does a reviewer or a finder.
    """
    evidence = list(identity_evidence(commit))
    bot = any(item.role == "bot" and item.where.startswith("author") for item in evidence)
    if attribution_rules().hinted(commit.message) or may_be_footer(commit.message):
        evidence += _from_message(commit, bot=bot)
    found = tuple(dict.fromkeys((*evidence, *extra)))
    deciding = [e for e in found if e.role in _WROTE and e.confidence != "weak"]
    best = max(deciding, key=lambda e: (_RANK[e.confidence], e.tool not in _VAGUE), default=None)
    return CommitAttribution(
        commit=commit.sha,
        is_ai=best is not None,
        tool=best.tool if best else None,
        confidence=best.confidence if best else None,
        evidence=found[:_MOST_EVIDENCE],
        lines=lines,
        is_bot=bot,
    )


def _from_message(commit: Commit, *, bot: bool) -> list[AttributionEvidence]:
    message = read_message(commit.message)
    if bot:
        # Dependency bots paste release notes: only what stands in the last paragraph is theirs.
        return [_dated(e, commit) for e in trailer_evidence(_last_paragraph(message))]
    found = [*trailer_evidence(message), *footer_evidence(message.lines), *subject_evidence(message)]
    if not any(e.role in _WROTE and e.confidence != "weak" for e in found):
        found += prose_evidence(message)  # sentences only matter where nothing firmer speaks
    found += merge_evidence(message.subject)
    return [_dated(e, commit) for e in found]


def _last_paragraph(message: Message) -> Message:
    lines = list(message.lines)
    while lines and not lines[-1].strip():
        lines.pop()
    start = max((i + 1 for i, line in enumerate(lines) if not line.strip()), default=0)
    return replace(message, lines=tuple(lines[start:]))


def _dated(evidence: AttributionEvidence, commit: Commit) -> AttributionEvidence:
    """Weaken what was written by mistake on certain days."""
    for window in attribution_rules().window:
        if window.email in evidence.matched.lower():
            day = dt.datetime.fromtimestamp(max(0, min(commit.authored_at, 2**34)), dt.UTC).date()
            if window.since <= day <= window.until:
                return replace(evidence, confidence=window.confidence)
    return evidence
