"""New addresses in code (rule destination.new) that no run reached: nobody saw what goes
there.

The scanner calls them low, since a run that is compared with base's shows a connection. Where the line did
not run there is no such sight, and the finding weighs as much as one in settings, which nothing runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gate.model.exercised import Exercised, FileExercised, UnrunReason
from gate.model.finding import Finding
from gate.model.rule import Severity

_RULE: Final = "destination.new"
_UNKNOWN: Final = "none of its changed lines is known to have run"


def weighed(findings: Iterable[Finding], exercised: Exercised | None) -> tuple[Finding, ...]:
    """The findings; those of new addresses in lines that did not run are medium. None: not known what ran."""
    if exercised is None:
        return tuple(findings)
    files = {file.path: file for file in exercised.files}
    return tuple(_weighed(one, files.get(one.primary.path)) for one in findings)


def _weighed(finding: Finding, file: FileExercised | None) -> Finding:
    if finding.rule_id != _RULE or finding.severity is not Severity.LOW or "joins" in finding.evidence:
        return finding  # "joins": one entry more of a list of settings, which nothing runs anyway
    why = _why(finding, file)
    if not why:
        return finding
    return replace(
        finding, severity=Severity.MEDIUM, evidence={**finding.evidence, "why no run shows it": why}
    )


def _why(finding: Finding, file: FileExercised | None) -> str:
    """Why no run shows what goes there; empty where one reached the line. A file without figures has no line
    that is known to have run (constants of compiled languages); of Python it has none that does anything.
    """
    if file is None:
        return "" if finding.primary.path.endswith((".py", ".pyi")) else _UNKNOWN
    first = finding.primary.line or 1
    last = finding.primary.end_line or first
    for part in file.unrun:
        reached = any(start <= last and first <= end for start, end in part.spans)
        if reached or part.reason is UnrunReason.LANGUAGE_NOT_RUN:
            return part.reason.text
    return ""
