"""The report as one page that needs nothing else: no request, light and dark, printable.

Its one script is ours, named by its hash in the page's policy; without it everything can be read too.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from markupsafe import Markup

from gate.model.finding import worst_first
from gate.model.report import Report
from gate.model.rule import Severity
from gate.model.stage import Stage
from gate.report import incidents, summary
from gate.report.exercised import headline, main_reason, rows
from gate.report.incident_view import Views, phrases
from gate.report.markdown import (
    ai_rows,
    behaviour_row,
    blind_rows,
    command,
    contribution_rows,
    heading,
    lost_events,
    run_row,
    sandbox_title,
)
from gate.report.rendering import html_environment

_MOST_FINDINGS: Final = 300
_MOST_ROWS: Final = 300


@cache
def _inlined(name: str) -> tuple[str, str]:
    """A file of ours for the page, and its hash for the page's Content-Security-Policy."""
    text = (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return text, f"sha256-{digest}"


class HtmlReporter:
    """One self-contained page; the Content-Security-Policy allows our style and script and nothing else."""

    name = "html"

    def render(self, report: Report) -> str:
        """The whole page; what was left out is counted."""
        style, style_hash = _inlined("report.css")
        script, script_hash = _inlined("report.js")
        view = self._view(report)
        view |= {
            "style": Markup(style),  # noqa: S704 - our own file
            "style_hash": Markup(style_hash),  # noqa: S704 - base64
            "script": Markup(script),  # noqa: S704 - our own file
            "script_hash": Markup(script_hash),  # noqa: S704 - base64
        }
        return html_environment().get_template("report.html.j2").render(view)

    def _view(self, report: Report) -> dict[str, object]:
        word, gloss = summary.verdict_words(report)
        change = report.change
        ranked = worst_first(report.findings)
        ai_count, of, tools = summary.disclosed(report)
        new, gone = summary.ordered(report.behaviour.new), summary.ordered(report.behaviour.gone)
        pairs = summary.run_pairs(report)
        views, joined = Views.of(report), incidents.incidents(report)
        return {
            "version": report.gate_version,
            "verdict": report.verdict.value,
            "word": word,
            "gloss": gloss,
            "fact": phrases(heading(report)),
            "incidents": [views.incident(n, one) for n, one in enumerate(joined[:_MOST_ROWS], 1)],
            "rules": views.rules(),
            "severities": _severities(report),
            "percent": report.exercised.percent if report.exercised is not None else None,
            "score": report.score.value,
            "warn": report.thresholds.warn,
            "fail": report.thresholds.fail,
            "reasons": report.reasons[:100],
            "next": summary.next_step(report),
            "repo": change.repo,
            "base": change.base,
            "head": change.head,
            "commits": summary.amount(of, "commit"),
            "files": summary.amount(len(change.files), "file"),
            "ai_count": ai_count,
            "tools": tools[:10],
            "blind": blind_rows(report),
            "findings": [views.finding(n, f) for n, f in enumerate(ranked[:_MOST_FINDINGS])],
            "finding_count": f"{len(ranked):,}",
            "findings_more": max(0, len(ranked) - _MOST_FINDINGS),
            "behaviours": [behaviour_row(b) for b in new[:_MOST_ROWS]],
            "behaviours_more": max(0, len(new) - _MOST_ROWS),
            "gone": [behaviour_row(b) for b in gone[:_MOST_ROWS]],
            "new_count": len(new),
            "gone_count": len(gone),
            "unchanged": report.behaviour.unchanged_count,
            "ran": summary.was_run(report),
            "exercised": headline(report),
            "unrun_reason": main_reason(report),
            "unrun": rows(report)[:_MOST_ROWS],
            "unrun_more": max(0, len(rows(report)) - _MOST_ROWS),
            "overrides": [summary.override_row(o) for o in report.overrides[:_MOST_ROWS]],
            "overrides_more": max(0, len(report.overrides) - _MOST_ROWS),
            "override_count": sum(o.accepted for o in report.overrides),
            "contributions": contribution_rows(report, _MOST_ROWS, signed=True),
            "ai": ai_rows(report, _MOST_ROWS, evidence=4),
            "sandbox_title": sandbox_title(report),
            "lost": lost_events(report.sandbox.completeness),
            "runs": [run_row(p) for p in pairs[:_MOST_ROWS]],
            "runs_more": max(0, len(pairs) - _MOST_ROWS),
            "not_exercised": report.sandbox.not_exercised[:_MOST_ROWS],
            "stages": [_stage(s) for s in report.stages[:_MOST_ROWS]],
            "command": command(report),
        }


def _stage(stage: Stage) -> dict[str, object]:
    return {
        "name": stage.name,
        "outcome": stage.outcome.value,
        "seconds": f"{stage.seconds:.1f}",
        "reason": stage.reason,
    }


def _severities(report: Report) -> list[dict[str, object]]:
    """How many findings of each severity there are, the worst first, none left out but those without."""
    counts = {level: sum(f.severity is level for f in report.findings) for level in Severity}
    ranked = sorted(counts.items(), key=lambda pair: -pair[0].rank)
    return [{"name": level.value, "count": count} for level, count in ranked if count]


REPORTER: Final = HtmlReporter()
