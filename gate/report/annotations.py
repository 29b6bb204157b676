"""What GitHub's runner shows by itself: annotations on changed lines, and the step summary."""

from __future__ import annotations

import os
from typing import Final

from gate.escape import command_data, command_property, display_path
from gate.model.finding import worst_first
from gate.model.report import Report
from gate.model.rule import Severity
from gate.model.stage import incomplete_stages
from gate.report import summary
from gate.report.exercised import headline
from gate.report.markdown import MarkdownReporter
from gate.report.published import rule_id

MOST: Final = 50
_LEVELS: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "notice",
}


def annotate(report: Report, most: int = MOST, *, findings: bool = True) -> str:
    """Workflow commands for the worst findings, one a line; the rest is one line with their number.

    Stages that could not look come first, as errors: nobody may take their silence for a clean look.
    ``findings`` False: they are told elsewhere, in the annotations of a check run.
    """
    out = [
        f"::error title=gate could not look::{command_data(f'{s.name} ({s.outcome.value}): {s.reason}', 600)}"
        for s in incomplete_stages(report.stages)[:10]
    ]
    ranked = worst_first(report.findings) if findings else ()
    for finding in ranked[:most]:
        place = finding.primary
        fields = [f"file={_file(place.path)}"]
        if place.line is not None:
            fields += [f"line={place.line}", f"endLine={place.end_line or place.line}"]
        fields.append(
            f"title={command_property(f'gate {rule_id(finding.rule_id)} ({finding.severity.value})')}"
        )
        evidence = [f"{key}: {value[:300]}" for key, value in list(finding.evidence.items())[:3]]
        text = command_data("\n".join([finding.message, *evidence]), 900)
        out.append(f"::{_LEVELS[finding.severity]} {','.join(fields)}::{text}")
    if len(ranked) > most:
        out.append(f"::notice title=gate::{len(ranked) - most} more findings, none worse, in report.json")
    if figure := headline(report):
        out.append(f"gate: {figure}")
    word = summary.verdict_words(report)[0]
    out.append(f"gate: {word}, score {report.score.value} of 100")
    return "\n".join(out) + "\n"


def _file(path: str) -> str:
    """The path itself where it is plain (the runner matches it to the diff), its visible form elsewhere."""
    try:
        os.fsencode(path).decode()
    except UnicodeError:  # bytes that were no UTF-8, or a lone surrogate out of a stored report
        path = display_path(path)
    return command_property(path, 1_000)


def step_summary(report: Report, *, blob_url: str | None = None, note: str = "") -> str:
    """The Markdown for GITHUB_STEP_SUMMARY (limit 1 MiB). ``note`` is ours: why there is no comment."""
    text = MarkdownReporter(blob_url=blob_url).render(report)
    return f"{text}\n{note}\n" if note else text
