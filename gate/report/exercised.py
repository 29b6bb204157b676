"""What every reporter says of the share of the change that ran: our words apart from the change's words."""

from __future__ import annotations

from typing import Any

from gate.dataclass import dataclass
from gate.escape import json_text
from gate.model.exercised import Exercised, FileExercised, UnrunCall, UnrunLines, UnrunReason
from gate.model.report import Report
from gate.model.sensitive import SensitiveKind
from gate.report import v1
from gate.report.summary import amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One file of which something did not run. ``path`` and ``detail`` are the change's words."""

    path: str
    figure: str
    lines: str
    reason: str
    detail: str


def headline(report: Report) -> str:
    """``Ran 42 of 48 changed lines (88 %)``; empty where nobody counted. Our words only."""
    found = report.exercised
    if found is None:
        return ""
    blind = (
        f"; {amount(found.unreadable, 'file')} that nobody can read did not run" if found.unreadable else ""
    )
    if found.percent is None:
        return f"No changed line holds code that could be run{blind}"
    lines = "line" if found.executable == 1 else "lines"
    return f"Ran {found.ran:,} of {found.executable:,} changed {lines} ({found.percent} %){blind}"


def main_reason(report: Report) -> tuple[str, str]:
    """Why most of the other lines did not run: our words, and the change's (which dependency, the
    exception).
    """
    ranked = report.exercised.reasons() if report.exercised else ()
    if not ranked:
        return "", ""
    reason, detail, count = ranked[0]
    return f"{amount(count, 'line')} did not: {reason.text}", detail


def rows(report: Report) -> list[Row]:
    """Files of which lines did not run, those with the most first."""
    files = report.exercised.files if report.exercised else ()
    dark = sorted((f for f in files if f.unrun or f.unreadable), key=lambda f: (f.ran - f.executable, f.path))
    return [row for file in dark for row in _rows(file)]


def _rows(file: FileExercised) -> list[Row]:
    figure = f"{file.ran:,} of {file.executable:,}"
    if file.unreadable:
        return [Row(path=file.path, figure="-", lines="", reason="cannot be read", detail=file.unreadable)]
    return [
        Row(
            path=file.path,
            figure=figure,
            lines=spans(part),
            reason=part.reason.text,
            detail=part.detail,
        )
        for part in file.unrun
    ]


def spans(part: UnrunLines, most: int = 6) -> str:
    """``3-5, 9``; the first few."""
    shown = [f"{a}-{b}" if a != b else str(a) for a, b in part.spans[:most]]
    more = len(part.spans) - most
    return ", ".join(shown) + (f" and {more} more places" if more > 0 else "")


def properties(report: Report) -> dict[str, Any] | None:
    """The figure for SARIF's run properties; None where nobody counted."""
    found = report.exercised
    if found is None:
        return None
    return {
        "executable": found.executable,
        "ran": found.ran,
        "percent": found.percent,
        "unreadable": found.unreadable,
        "languages": {
            json_text(name, 60): {"ran": ran, "executable": of} for name, (ran, of) in found.languages.items()
        },
    }


def to_v1(found: Exercised | None) -> v1.ExercisedV1 | None:
    """Its published form."""
    if found is None:
        return None
    return v1.ExercisedV1(
        executable=found.executable,
        ran=found.ran,
        percent=found.percent,
        files=[_file_v1(file) for file in found.files[: v1.MAX_FILES]],
    )


def _file_v1(file: FileExercised) -> v1.FileExercisedV1:
    return v1.FileExercisedV1(
        path=json_text(file.path, v1.MAX_PATH),
        language=json_text(file.language, 300),
        executable=file.executable,
        ran=file.ran,
        unreadable=json_text(file.unreadable),
        unrun=[
            v1.UnrunLinesV1(
                lines=list(part.spans[:10_000]), reason=part.reason.value, detail=json_text(part.detail)
            )
            for part in file.unrun
        ],
        calls=[
            v1.UnrunCallV1(
                line=call.first,
                end_line=call.last,
                kind=call.kind.value,
                call=json_text(call.call),
                text=json_text(call.text),
                reason=call.reason.value,
                detail=json_text(call.detail),
                in_tests=call.in_tests,
            )
            for call in file.calls[:10_000]
        ],
    )


def from_v1(found: v1.ExercisedV1 | None) -> Exercised | None:
    """The value that a published form describes. Raises ValueError for what contradicts itself."""
    if found is None:
        return None
    return Exercised(files=tuple(_file(file) for file in found.files))


def _file(file: v1.FileExercisedV1) -> FileExercised:
    return FileExercised(
        path=file.path,
        language=file.language,
        executable=file.executable,
        ran=file.ran,
        unreadable=file.unreadable,
        unrun=tuple(
            UnrunLines(spans=tuple(part.lines), reason=UnrunReason(part.reason), detail=part.detail)
            for part in file.unrun
        ),
        calls=tuple(
            UnrunCall(
                first=call.line,
                last=call.end_line,
                kind=SensitiveKind(call.kind),
                call=call.call,
                text=call.text,
                reason=UnrunReason(call.reason),
                detail=call.detail,
                in_tests=call.in_tests,
            )
            for call in file.calls
        ),
    )
