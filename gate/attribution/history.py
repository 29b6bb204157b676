"""Counts what a whole history discloses: per tool and month, commits and lines, in constant memory."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import field
from typing import Any

from gate.attribution.attribute import attribute_commit
from gate.attribution.gitai import parse_note
from gate.attribution.notes import note_evidence
from gate.dataclass import dataclass
from gate.model.attribution import AttributionEvidence
from gate.model.change import HistoryCommit


@dataclass
class Count:
    """Commits, and lines they added; None as long as nobody counted lines."""

    commits: int = 0
    lines: int | None = None

    def add(self, commits: int, lines: int | None) -> None:
        """Count more."""
        self.commits += commits
        if lines is not None:
            self.lines = (self.lines or 0) + lines


def summed(counts: Iterable[Count]) -> Count:
    """All of them together."""
    whole = Count()
    for count in counts:
        whole.add(count.commits, count.lines)
    return whole


@dataclass
class History:
    """The tally. Keys are ``(month "2026-01", tool)``; ``total`` has every commit by month.

    ``suggested`` are commits whose only evidence is an accepted AI suggestion, ``bots`` those of
    automation without AI. ``attested`` counts lines that git notes give to a tool.
    """

    tools: dict[tuple[str, str], Count] = field(default_factory=dict)
    total: dict[str, Count] = field(default_factory=dict)
    ai: dict[str, Count] = field(default_factory=dict)
    bots: Count = field(default_factory=Count)
    suggested: Count = field(default_factory=Count)
    only_weak: Count = field(default_factory=Count)
    attested: dict[str, int] = field(default_factory=dict)


def tally(entries: Iterable[HistoryCommit]) -> History:
    """Count a stream of commits. A commit counts once for its tool; lines are those it added."""
    found = History()
    for entry in entries:
        _count(found, entry)
    return found


def _count(found: History, entry: HistoryCommit) -> None:
    month = _month(entry.commit.authored_at)
    found.total.setdefault(month, Count()).add(1, entry.added)
    told = attribute_commit(entry.commit, extra=_from_notes(found, entry))
    if told.is_bot:
        found.bots.add(1, entry.added)
    if not told.is_ai or not told.tool:
        weak = [e for e in told.evidence if e.role != "bot"]
        if weak:
            found.only_weak.add(1, entry.added)
        return
    roles = {e.role for e in told.evidence if e.confidence != "weak"}
    if roles <= {"suggestion", "reviewer", "finder", "bot"}:
        found.suggested.add(1, entry.added)
    found.tools.setdefault((month, told.tool), Count()).add(1, entry.added)
    found.ai.setdefault(month, Count()).add(1, entry.added)


def _from_notes(found: History, entry: HistoryCommit) -> list[AttributionEvidence]:
    evidence: list[AttributionEvidence] = []
    for body in entry.notes:
        note = parse_note(body)
        if note and note.lines:
            evidence += note_evidence(note.lines, kind="note", where="refs/notes/ai", sure="definite")
            for (_, tool), spans in note.lines.items():
                lines = sum(b - a + 1 for a, b in spans)
                found.attested[tool] = found.attested.get(tool, 0) + lines
    return evidence


def _month(seconds: int) -> str:
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m")
    except (OverflowError, ValueError, OSError):
        return "0000-00"


def history_json(found: History) -> dict[str, Any]:
    """The tally as plain values, months and tools sorted."""

    def told(count: Count) -> dict[str, int | None]:
        return {"commits": count.commits, "lines": count.lines}

    return {
        "total": told(summed(found.total.values())),
        "disclosed_ai": told(summed(found.ai.values())),
        "bots": told(found.bots),
        "suggestions_only": told(found.suggested),
        "weak_only": told(found.only_weak),
        "attested_lines": dict(sorted(found.attested.items())),
        "months": [
            {
                "month": month,
                "total": told(found.total[month]),
                "disclosed_ai": told(found.ai.get(month, Count())),
                "tools": {
                    tool: told(count) for (m, tool), count in sorted(found.tools.items()) if m == month
                },
            }
            for month in sorted(found.total)
        ],
    }
