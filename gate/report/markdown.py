"""The report as a comment on a pull request: the answer in five lines, everything else folded."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from typing import Final
from urllib.parse import quote_from_bytes

from markupsafe import Markup

from gate.dataclass import dataclass
from gate.escape import display_path, markdown, markdown_code
from gate.model.behaviour import Behaviour, BehaviourDiff
from gate.model.finding import Finding, worst_first
from gate.model.report import Report
from gate.model.run import Completeness, RunRecord
from gate.model.score import Verdict
from gate.model.stage import Stage, incomplete_stages
from gate.report import incidents, summary
from gate.report.exercised import headline, main_reason, rows
from gate.report.mermaid import process_tree
from gate.report.published import rule_id
from gate.report.rendering import markdown_environment
from gate.report.rule_pages import page_url

MOST_CHARACTERS: Final = 65_000
"""GitHub takes 65,536 characters; we count UTF-8 bytes, which is never fewer, and leave room for a marker."""

_MARKS: Final = {Verdict.PASS: "✅", Verdict.WARN: "⚠️", Verdict.FAIL: "⛔", Verdict.INCONCLUSIVE: "❔"}

_SAID: Final = frozenset({"read", "then-network"})
"""Channels of a planted secret that the row says already."""
_OVERRIDABLE: Final = frozenset({Verdict.FAIL, Verdict.INCONCLUSIVE})


@dataclass(frozen=True, kw_only=True, slots=True)
class RowLimits:
    """How many entries each part may show."""

    findings: int = 120
    evidence: int = 4
    rows: int = 40

    def less(self) -> RowLimits:
        """About half of it."""
        return RowLimits(
            findings=self.findings // 2, evidence=max(1, self.evidence - 1), rows=max(3, self.rows // 2)
        )


class MarkdownReporter:
    """``blob_url`` (ours, such as ``https://github.com/o/r/blob/<sha>``) turns places into permalinks."""

    name = "markdown"

    def __init__(self, *, blob_url: str | None = None) -> None:
        self.blob_url = blob_url

    def render(self, report: Report) -> str:
        """The whole comment, always shorter than GitHub's limit; what did not fit is counted."""
        room = RowLimits()
        ranked = worst_first(report.findings)
        template = markdown_environment().get_template("report.md.j2")
        while True:
            text = template.render(self._view(report, ranked, room))
            if len(text.encode()) <= MOST_CHARACTERS or not (room.rows or room.findings):
                return text
            room = room.less()

    def _view(self, report: Report, ranked: Sequence[Finding], room: RowLimits) -> dict[str, object]:
        blind = incomplete_stages(report.stages)
        doings = summary.behaviour_phrases(report)
        ai = [c for c in report.commits if c.is_ai]
        fact = heading(report) or passed(report)
        also = [one for one in incidents.incidents(report) if one.sentence != fact]
        return {
            "mark": _MARKS[report.verdict],
            "inconclusive": report.verdict is Verdict.INCONCLUSIVE,
            "fact": sentence(fact),
            "incidents": [
                {"severity": one.severity.value, "sentence": sentence(one.sentence)} for one in also[:3]
            ],
            "incidents_more": max(0, len(also) - 3),
            "word": summary.verdict_words(report)[0],
            "score": report.score.value,
            "warn": report.thresholds.warn,
            "fail": report.thresholds.fail,
            "blind": blind_rows(report)[:3],
            "blind_count": summary.amount(len(blind), "stage"),
            "blind_more": max(0, len(blind) - 3),
            "doings": doings[:4],
            "doings_more": max(0, len(doings) - 4),
            **_what_ran(report, told=report.verdict is Verdict.PASS and bool(fact)),
            "unrun_reason": main_reason(report),
            "unrun": rows(report)[: room.rows],
            "unrun_more": max(0, len(rows(report)) - room.rows),
            "worst": self._finding(ranked[0], room, report) if ranked else None,
            "worst_told": bool(ranked) and _tells(fact, ranked[0]),
            "next": _own_words(summary.next_step(report)),
            **self._behaviour(report.behaviour, room.rows),
            "files": self._files(ranked[: room.findings], ranked, room, report),
            "finding_count": f"{len(ranked):,}",
            "findings_more": max(0, len(ranked) - room.findings),
            "because": _because(report),
            "reasons": report.reasons[: room.rows],
            "contributions": contribution_rows(report, room.rows, signed=False),
            "ai_count": len(ai),
            "commit_count": summary.amount(len(report.commits), "commit"),
            "ai": ai_rows(report, room.rows, evidence=2),
            "ai_more": max(0, len(ai) - room.rows),
            **self._sandbox(report, room.rows),
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

    def _behaviour(self, diff: BehaviourDiff, most: int) -> dict[str, object]:
        ordered = summary.ordered(diff.new)
        return {
            "tree": Markup(process_tree(ordered)),  # noqa: S704 - see there
            "behaviours": [behaviour_row(b) for b in ordered[:most]],
            "behaviours_more": max(0, len(diff.new) - most),
            "gone": [behaviour_row(b) for b in summary.ordered(diff.gone)[: most // 2]],
            "new_count": len(diff.new),
            "gone_count": len(diff.gone),
            "unchanged": diff.unchanged_count,
        }

    def _sandbox(self, report: Report, most: int) -> dict[str, object]:
        pairs = summary.run_pairs(report)
        box = report.sandbox
        return {
            "sandbox_title": sandbox_title(report),
            "runs": [run_row(p) for p in pairs[:most]],
            "runs_more": max(0, len(pairs) - most),
            "lost": lost_events(box.completeness),
            "not_exercised": box.not_exercised[:most],
            "not_exercised_more": max(0, len(box.not_exercised) - most),
        }

    def _files(
        self, shown: Sequence[Finding], ranked: Sequence[Finding], room: RowLimits, report: Report
    ) -> list[dict[str, object]]:
        groups: dict[str, list[Finding]] = {}
        for finding in shown:
            groups.setdefault(finding.primary.path, []).append(finding)
        totals: dict[str, int] = {}
        for finding in ranked:
            totals[finding.primary.path] = totals.get(finding.primary.path, 0) + 1
        return [
            {
                "link": self._link(path, None, display_path(path)),
                "findings": [self._finding(f, room, report) for f in found],
                "more": totals[path] - len(found),
            }
            for path, found in groups.items()
        ]

    def _finding(self, finding: Finding, room: RowLimits, report: Report) -> dict[str, object]:
        path, line = summary.location_parts(finding)
        number = finding.primary.line
        return {
            "severity": finding.severity.value,
            "message": markdown_text(finding.message, 300),
            "where": self._link(path, number, display_path(path, 100) + line),
            "line": self._link(path, number, "line " + line[1:], code=False) if line else "",
            "rule": rule_link(finding.rule_id, report.rules if self.blob_url is not None else ()),
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


def rule_link(name: str, rules: Container[str]) -> Markup:
    """The rule's id as code, with a link to its page where it is one of these rules and has one."""
    shown, url = markdown_code(rule_id(name)), page_url(name, rules)
    return Markup(f"[{shown}]({url})" if url else shown)  # noqa: S704 - ids and addresses are plain


def markdown_text(text: str, limit: int) -> Markup:
    """Text for Markdown with a limit of its own."""
    return Markup(markdown(text, limit))  # noqa: S704 - escaped by textsafe


def sentence(told: incidents.Sentence) -> Markup:
    """A sentence with the change's words as code."""
    parts = []
    for phrase in told:
        before, after = (" " if edge == " " else "" for edge in (phrase.text[:1], phrase.text[-1:]))
        shown = markdown_code(phrase.text, 120) if phrase.quoted else before + markdown(phrase.text) + after
        parts.append(shown if phrase.text.strip() else phrase.text)
    return Markup("".join(parts))  # noqa: S704 - escaped by textsafe


def _own_words(text: str) -> Markup:
    """Advice in our words, with what stands between backticks as code."""
    parts = enumerate(text.split("`"))
    return sentence(tuple(incidents.Phrase(text=part, quoted=bool(at % 2)) for at, part in parts))


def heading(report: Report) -> incidents.Sentence:
    """The fact after the verdict's word: what was seen, or what could not be looked at."""
    if report.verdict is Verdict.PASS:
        return ()
    if report.verdict is Verdict.INCONCLUSIVE:
        blind = incomplete_stages(report.stages)
        return (incidents.Phrase(text=f"{blind[0].name} could not look"),) if blind else ()
    return incidents.fact(report)


def passed(report: Report) -> incidents.Sentence:
    """What a pass rests on: how much ran, and that nothing new was seen."""
    ran = headline(report)
    if report.verdict is not Verdict.PASS or not ran:
        return ()
    new = bool(summary.behaviour_phrases(report)) or not summary.was_run(report)
    return (incidents.Phrase(text=ran[0].lower() + ran[1:] + ("" if new else ", nothing new was seen")),)


def _what_ran(report: Report, *, told: bool) -> dict[str, object]:
    """The share that ran, as far as the heading has not ``told`` it; whether the table is open."""
    return {
        "ran": summary.was_run(report),
        "told": told,
        "may_do": _may_do(report),
        "open": report.verdict is Verdict.FAIL,
        "exercised": headline(report),
    }


def _may_do(report: Report) -> bool:
    """Something of it ran, or could have run: what it does is then a question."""
    return summary.was_run(report) or report.exercised is None or bool(report.exercised.executable)


def _because(report: Report) -> str:
    """The first reason, where it says more than that the score is what it is."""
    return next((why for why in report.reasons[:1] if not why.startswith("score ")), "")


def _tells(fact: incidents.Sentence, worst: Finding) -> bool:
    """The heading is this finding's own words, with its place."""
    said = "".join(phrase.text for phrase in fact)
    return bool(said) and worst.message.rstrip(".")[1:] in said


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
        "head": summary.outcome_words(head) + (f": {note}" if (note := _note(head)) else ""),
        "seconds": "-" if head is None else f"{head.seconds:.1f} s",
        "memory": "-" if head is None else summary.mebibytes(head.peak_memory),
    }


def _note(run: RunRecord | None) -> str:
    return summary.run_note(run).removeprefix("not run: ")


def blind_rows(report: Report) -> list[dict[str, object]]:
    """The stages that could not look, or not at everything."""
    stages = incomplete_stages(report.stages)
    return [{"name": s.name, "outcome": s.outcome.value, "reason": s.reason} for s in stages]


def contribution_rows(report: Report, most: int, *, signed: bool) -> list[dict[str, object]]:
    """The points of the score, most first; ``signed``: with a plus before them."""
    points = sorted(report.score.contributions, key=lambda c: (-c.points, c.rule_id))
    shape = "+.1f" if signed else ".1f"
    return [
        {"points": format(c.points, shape), "rule": rule_id(c.rule_id), "why": c.why} for c in points[:most]
    ]


def ai_rows(report: Report, most: int, *, evidence: int) -> list[dict[str, object]]:
    """Commits that disclose a tool, each with so many pieces of evidence."""
    return [
        {
            "sha": c.commit[:10],
            "tool": c.tool or "an AI tool",
            "confidence": c.confidence or "unknown",
            "evidence": c.evidence[:evidence],
        }
        for c in [c for c in report.commits if c.is_ai][:most]
    ]


def sandbox_title(report: Report) -> str:
    """What ran, and behind which sandbox, in a few words."""
    box = report.sandbox
    if box.backend is None:
        return "nothing"
    runs = summary.amount(len(summary.run_pairs(report)), "probe")
    isolation = f" ({box.isolation})" if box.isolation else ""
    watched = f", watched by {box.tracer}" if box.tracer else ""
    told = sum(1 for run in box.runs if run.kept_at)
    kept = f", {told} of {summary.amount(len(box.runs), 'run')} told again" if told else ""
    return f"{runs} behind {box.backend}{isolation}{watched}{kept}"


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
