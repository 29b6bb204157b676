"""How an examination is told: a matrix of backend by criterion, then the evidence."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Final

from gate import __version__
from gate.escape import json_text, markdown, markdown_code, terminal
from gate.isolation.interface import CRITERIA, AttemptOutcome, Examination, Result

FORMAT: Final = 1
"""Version of the JSON form; a changed meaning raises it."""
_SIGNS: Final = {
    AttemptOutcome.HELD: "held",
    AttemptOutcome.BROKEN: "BROKEN",
    AttemptOutcome.NOT_CLAIMED: "not claimed",
    AttemptOutcome.NOT_HERE: "not here",
    AttemptOutcome.NOT_TRIED: "NOT TRIED",
}
_LOUD: Final = (
    AttemptOutcome.BROKEN,
    AttemptOutcome.NOT_TRIED,
    AttemptOutcome.NOT_CLAIMED,
    AttemptOutcome.NOT_HERE,
)


def cell(examination: Examination, criterion: int) -> str:
    """One field of the matrix: how many held of how many, and what did not."""
    if not examination.capability.available:
        return "-"
    counts = {outcome: examination.count(outcome, criterion) for outcome in AttemptOutcome}
    total = sum(counts.values())
    if not total:
        return "-"
    rest = [f"{counts[outcome]} {_SIGNS[outcome]}" for outcome in _LOUD if counts[outcome]]
    return ", ".join([f"{counts[AttemptOutcome.HELD]}/{total}", *rest])


def to_terminal(examinations: Sequence[Examination], *, verbose: bool, width: int = 100) -> str:
    """The matrix, then what did not hold; with ``verbose`` every check and its evidence."""
    names = [examination.capability.backend for examination in examinations]
    rows = [["", *names]]
    rows += [
        [f"{number} {title}", *(cell(examination, number) for examination in examinations)]
        for number, title in CRITERIA.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(text.ljust(size) for text, size in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    for examination in examinations:
        lines += ["", _headline(examination)]
        for result in examination.results:
            if verbose or result.outcome in _LOUD:
                lines += _lines(result, width)
    return "\n".join(lines) + "\n"


def _headline(examination: Examination) -> str:
    found = examination.capability
    if not found.available:
        return terminal(f"{found.backend}: not available here: {found.reason}")
    total = len(examination.results)
    return terminal(
        f"{found.backend} ({found.isolation}, {found.version}): "
        f"{examination.count(AttemptOutcome.HELD)} of {total} "
        f"checks held, {examination.sandboxes} sandboxes, {examination.seconds:.0f} s"
    )


def _lines(result: Result, width: int) -> list[str]:
    first = f"  {_SIGNS[result.outcome]:<11} {result.check.id}: {result.check.title}"
    evidence = terminal(f"tried {result.tried}; {result.happened}", 700)
    return [first, *textwrap.wrap(evidence, width, initial_indent=" " * 14, subsequent_indent=" " * 14)]


def to_markdown(examinations: Sequence[Examination], *, evidence: bool = True) -> str:
    """The matrix as a table, and below it every check with its evidence."""
    tried = [examination for examination in examinations if examination.capability.available]
    lines = [
        "| criterion | " + " | ".join(examination.capability.backend for examination in tried) + " |",
        "|---" * (len(tried) + 1) + "|",
    ]
    for number, title in CRITERIA.items():
        fields = " | ".join(cell(examination, number) for examination in tried)
        lines.append(f"| {number} {title} | {fields} |")
    totals = [f"{e.count(AttemptOutcome.HELD)}/{len(e.results)}, {e.seconds:.0f} s" for e in tried]
    lines.append(f"| all | {' | '.join(totals)} |")
    for examination in examinations:
        if not examination.capability.available:
            reason = markdown(examination.capability.reason)
            lines += ["", f"{examination.capability.backend}: not available: {reason}"]
        elif evidence:
            lines += ["", *_evidence(examination)]
    return "\n".join(lines) + "\n"


def _evidence(examination: Examination) -> Iterable[str]:
    found = examination.capability
    yield f"### {found.backend}: {found.isolation}, {markdown(found.version)}"
    yield ""
    yield "| check | outcome | tried | happened |"
    yield "|---|---|---|---|"
    for result in examination.results:
        yield (
            f"| `{result.check.id}` {result.check.title} | {_SIGNS[result.outcome]} | "
            f"{markdown_code(result.tried, cell=True)} | {markdown_code(result.happened, cell=True)} |"
        )


def to_json(examinations: Sequence[Examination]) -> str:
    """All of it, versioned."""
    return json.dumps(
        {
            "format": FORMAT,
            "gate": __version__,
            "criteria": {str(number): title for number, title in CRITERIA.items()},
            "backends": [_object(examination) for examination in examinations],
        },
        indent=1,
    )


def _object(examination: Examination) -> dict[str, Any]:
    found = examination.capability
    return {
        "backend": found.backend,
        "available": found.available,
        "isolation": found.isolation,
        "tracer": found.tracer,
        "version": json_text(found.version),
        "reason": json_text(found.reason),
        "seconds": round(examination.seconds, 1),
        "sandboxes": examination.sandboxes,
        "counts": {outcome.value: examination.count(outcome) for outcome in AttemptOutcome},
        "checks": [
            {
                "id": result.check.id,
                "criterion": result.check.criterion,
                "title": result.check.title,
                "outcome": result.outcome.value,
                "tried": json_text(result.tried),
                "happened": json_text(result.happened),
            }
            for result in examination.results
        ],
    }
