"""Line-level evidence: git-ai notes and Agent Trace records, as claims by commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gate.attribution.agenttrace import TRACE_PATH, parse_traces
from gate.attribution.gitai import parse_note
from gate.attribution.spans import Claims, Spans, merged
from gate.dataclass import dataclass
from gate.model.attribution import AttributionEvidence, Strength
from gate.model.change import Change, Tree


@dataclass
class LineEvidence:
    """Claims and evidence by commit."""

    claims: dict[str, dict[tuple[str, str], Spans]] = field(default_factory=dict)
    evidence: dict[str, list[AttributionEvidence]] = field(default_factory=dict)

    def add(
        self, commit: str, lines: Claims, *, kind: str, where: str, sure: Strength, models: str = ""
    ) -> None:
        """Take up one record."""
        mine = self.claims.setdefault(commit, {})
        for key, spans in lines.items():
            mine[key] = merged((*mine.get(key, ()), *spans))
        told = note_evidence(lines, kind=kind, where=where, sure=sure, models=models)
        self.evidence.setdefault(commit, []).extend(told)


def note_evidence(
    lines: Claims, *, kind: str, where: str, sure: Strength, models: str = ""
) -> tuple[AttributionEvidence, ...]:
    """Evidence per tool. Shown are tool, models and the number of lines; never a note's body."""
    count: dict[str, int] = {}
    for (_, tool), spans in lines.items():
        count[tool] = count.get(tool, 0) + sum(b - a + 1 for a, b in spans)
    return tuple(
        AttributionEvidence(
            kind=kind,
            where=where,
            matched=f"{tool}{f' ({models})' if models else ''}: {number} lines"[:200],
            tool=tool,
            confidence=sure,
            role="author",
        )
        for tool, number in count.items()
    )


def line_evidence(change: Change, head: Tree, notes: Mapping[str, tuple[bytes, ...]]) -> LineEvidence:
    """Everything notes and the tree's trace file attest about the commits of the change."""
    found = LineEvidence()
    for commit in change.commits:
        for body in notes.get(commit.sha, ()):
            _note(found, commit.sha, body)
    if any(file.path == TRACE_PATH and file.new_blob for file in change.files):
        children = {parent: commit.sha for commit in change.commits for parent in commit.parents}
        own = {commit.sha for commit in change.commits}
        for record in parse_traces(head.read(TRACE_PATH)):
            sha = children.get(record.revision) or (record.revision if record.revision in own else "")
            if sha:
                found.add(sha, record.lines, kind="trace", where=TRACE_PATH, sure="strong")
    return found


def _note(found: LineEvidence, commit: str, body: bytes) -> None:
    note = None if body.lstrip().startswith(b"{") else parse_note(body)
    if note:
        models = ", ".join(note.models)[:100]
        found.add(commit, note.lines, kind="note", where="refs/notes/ai", sure="definite", models=models)
        return
    for record in parse_traces(body):
        found.add(commit, record.lines, kind="note", where="refs/notes/agent-trace", sure="strong")
