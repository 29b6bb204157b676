"""The report as a comment on a pull request: the answer in five lines, everything else folded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_from_bytes

from markupsafe import Markup

from gate.model.behaviour import Behaviour
from gate.model.finding import Finding
from gate.model.report import Report
from gate.model.run import Completeness
from gate.model.score import Verdict
from gate.model.stage import Stage
from gate.report import summary
from gate.report.json_v1 import rule_id
from gate.report.mermaid import process_tree
from gate.report.order import could_not_look, worst_first
from gate.report.rendering import markdown_environment
from gate.textsafe import display_path, markdown, markdown_code

MOST_CHARACTERS: Final = 65_000
"""GitHub takes 65,536 characters; we count UTF-8 bytes, which is never fewer, and leave room for a marker."""

_MARKS: Final = {Verdict.PASS: "✅", Verdict.WARN: "⚠️", Verdict.FAIL: "⛔", Verdict.INCONCLUSIVE: "❔"}

_SAID: Final = frozenset({"read", "then-network"})
"""Channels of a planted secret that the row says already."""
_OVERRIDABLE: Final = frozenset({Verdict.FAIL, Verdict.INCONCLUSIVE})


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """How many entries each part may show."""

    findings: int = 120
    evidence: int = 4
    rows: int = 40

    def less(self) -> Room:
        """About half of it."""
        return Room(
            findings=self.findings // 2, evidence=max(1, self.evidence - 1), rows=max(3, self.rows // 2)
        )


class MarkdownReporter:
    """``blob_url`` (ours, such as ``https://github.com/o/r/blob/<sha>``) turns places into permalinks."""

    name = "markdown"

    def __init__(self, *, blob_url: str | None = None) -> None:
        self.blob_url = blob_url

    def render(self, report: Report) -> str:
        """The whole comment, always shorter than GitHub's limit; what did not fit is counted."""
        room = Room()
        ranked = worst_first(report.findings)
        template = markdown_environment().get_template("report.md.j2")
        while True:
            text = template.render(self._view(report, ranked, room))
            if len(text.encode()) <= MOST_CHARACTERS or not (room.rows or room.findings):
                return text
            room = room.less()

    def _view(self, report: Report, ranked: list[Finding], room: Room) -> dict[str, object]:
        blind = could_not_look(report.stages)
        doings = summary.doings(report)
        ai = [c for c in report.commits if c.is_ai]
        pairs = summary.run_pairs(report)
        box = report.sandbox
        points = sorted(report.score.contributions, key=lambda c: (-c.points, c.rule_id))
        return {
            "mark": _MARKS[report.verdict],
            "word": summary.VERDICT_WORDS[report.verdict][0],
            "score": report.score.value,
            "warn": report.thresholds.warn,
            "fail": report.thresholds.fail,
            "blind": [{"name": b.name, "outcome": b.outcome.value, "reason": b.reason} for b in blind[:3]],
            "blind_count": summary.amount(len(blind), "stage"),
            "blind_more": max(0, len(blind) - 3),
            "doings": doings[:4],
            "doings_more": max(0, len(doings) - 4),
            "ran": summary.was_run(report),
            "worst": self._finding(ranked[0], room) if ranked else None,
            "next": summary.next_step(report),
            "tree": Markup(process_tree(summary.ordered(report.behaviour.new))),  # noqa: S704 - see there
            "behaviours": [behaviour_row(b) for b in summary.ordered(report.behaviour.new)[: room.rows]],
            "behaviours_more": max(0, len(report.behaviour.new) - room.rows),
            "gone": [behaviour_row(b) for b in summary.ordered(report.behaviour.gone)[: room.rows // 2]],
            "new_count": len(report.behaviour.new),
            "gone_count": len(report.behaviour.gone),
            "unchanged": report.behaviour.unchanged_count,
            "files": self._files(ranked[: room.findings], ranked, room),
            "finding_count": f"{len(ranked):,}",
            "findings_more": max(0, len(ranked) - room.findings),
            "because": report.reasons[0] if report.reasons else "",
            "reasons": report.reasons[: room.rows],
            "contributions": [
                {"points": f"{c.points:.1f}", "rule": rule_id(c.rule_id), "why": c.why}
                for c in points[: room.rows]
            ],
            "ai_count": len(ai),
            "commit_count": summary.amount(len(report.commits), "commit"),
            "ai": [
                {
                    "sha": c.commit[:10],
                    "tool": c.tool or "an AI tool",
                    "confidence": c.confidence or "unknown",
                    "evidence": c.evidence[:2],
                }
                for c in ai[: room.rows]
            ],
            "ai_more": max(0, len(ai) - room.rows),
            "sandbox_title": sandbox_title(report),
            "runs": [run_row(p) for p in pairs[: room.rows]],
            "runs_more": max(0, len(pairs) - room.rows),
            "lost": lost_events(box.completeness),
            "not_exercised": box.not_exercised[: room.rows],
            "not_exercised_more": max(0, len(box.not_exercised) - room.rows),
            "stages": [stage_row(s) for s in sorted(report.stages, key=lambda s: s.looked)[: room.rows]],
            "stages_more": max(0, len(report.stages) - room.rows),
            "command": command(report),
            "overrides": [summary.override_row(o) for o in report.overrides[: room.rows]],
            "overrides_more": max(0, len(report.overrides) - room.rows),
            "override_count": sum(o.accepted for o in report.overrides),
            "may_override": report.change.head is not None and report.verdict in _OVERRIDABLE,
            "hard": any(f.hard_block for f in report.findings),
            "head": report.change.head or "",
            "version": report.gate_version,
        }

    def _files(self, shown: list[Finding], ranked: list[Finding], room: Room) -> list[dict[str, object]]:
        groups: dict[str, list[Finding]] = {}
        for finding in shown:
            groups.setdefault(finding.primary.path, []).append(finding)
        totals: dict[str, int] = {}
        for finding in ranked:
            totals[finding.primary.path] = totals.get(finding.primary.path, 0) + 1
        return [
            {
                "link": self._link(path, None, display_path(path)),
                "findings": [self._finding(f, room) for f in found],
                "more": totals[path] - len(found),
            }
            for path, found in groups.items()
        ]

    def _finding(self, finding: Finding, room: Room) -> dict[str, object]:
        path, line = summary.place(finding)
        number = finding.primary.line
        return {
            "severity": finding.severity.value,
            "message": markdown_text(finding.message, 300),
            "where": self._link(path, number, display_path(path, 100) + line),
            "line": self._link(path, number, "line " + line[1:], code=False) if line else "",
            "rule": rule_id(finding.rule_id),
            "confidence": finding.confidence.value,
            "seen": finding.stage.value == "behaviour",
            "hard_block": finding.hard_block,
            "suppressed_by": finding.suppressed_by,
            "fingerprint": finding.fingerprint,
            "evidence": list(finding.evidence.items())[: room.evidence],
        }

    def _link(self, path: str, line: int | None, label: str, *, code: bool = True) -> Markup:
        shown = markdown_code(label) if code else markdown(label)
        if self.blob_url is None or not summary.stays_inside(path):
            return Markup(shown)  # noqa: S704 - escaped by textsafe
        target = quote_from_bytes(os.fsencode(path), safe="/")
        anchor = f"#L{line}" if line else ""
        return Markup(f"[{shown}]({self.blob_url}/{target}{anchor})")  # noqa: S704 - percent-encoded


def markdown_text(text: str, limit: int) -> Markup:
    """Text for Markdown with a limit of its own."""
    return Markup(markdown(text, limit))  # noqa: S704 - escaped by textsafe


def stage_row(stage: Stage) -> Mapping[str, object]:
    """One stage for a template."""
    return {
        "name": stage.name,
        "outcome": stage.outcome.value,
        "seconds": f"{stage.seconds:.1f}",
        "reason": stage.reason,
    }


def behaviour_row(item: Behaviour) -> Mapping[str, object]:
    """One behaviour for a template."""
    extra = next((item.detail[k] for k in ("host", "argv", "channel", "target") if item.detail.get(k)), "")
    if extra in item.subject or extra in _SAID:
        extra = ""
    where = ""
    if item.at is not None:
        where = display_path(item.at.path, 80) + (f":{item.at.line}" if item.at.line else "")
    return {
        "verb": summary.verb(item),
        "subject": item.subject,
        "extra": extra,
        "denied": item.denied,
        "place": where,
        "actor": item.actor,
    }


def run_row(pair: summary.RunPair) -> Mapping[str, object]:
    """One probe with both sides for a template."""
    head = pair.head
    return {
        "phase": pair.phase,
        "target": pair.target,
        "base": summary.outcome_words(pair.base),
        "head": summary.outcome_words(head) + (f": {head.fault}" if head is not None and head.fault else ""),
        "seconds": "-" if head is None else f"{head.seconds:.1f} s",
        "memory": "-" if head is None else summary.mebibytes(head.peak_memory),
    }


def sandbox_title(report: Report) -> str:
    """What ran, and behind which wall, in a few words."""
    box = report.sandbox
    if box.backend is None:
        return "nothing"
    runs = summary.amount(len(summary.run_pairs(report)), "probe")
    wall = f" ({box.isolation})" if box.isolation else ""
    watched = f", watched by {box.tracer}" if box.tracer else ""
    return f"{runs} behind {box.backend}{wall}{watched}"


def lost_events(completeness: Completeness) -> str:
    """What the tracer lost, in words; empty when nothing."""
    if completeness.whole:
        return ""
    cut = ", cut short" if completeness.truncated else ""
    return f"{completeness.dropped} events dropped, {completeness.unparsed} not understood{cut}"


def command(report: Report) -> str:
    """The one command that repeats the check."""
    change = report.change
    if change.base and change.head:
        return f"gate check --base {change.base} --head {change.head}"
    return "gate run PATH"


REPORTER: Final = MarkdownReporter()
