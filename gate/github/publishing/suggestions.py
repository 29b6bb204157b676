"""Safe fixes of a report's findings, on the lines that the change added.

The lines come from the API, the new text from gate/github/publishing/python_fixes.py: a report that
somebody else could have written says only where to look.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from gate.dataclass import dataclass
from gate.escape import display_path, markdown_code
from gate.github import review
from gate.github.interface import Api
from gate.github.publishing.python_fixes import FIXES, Fix, fix_of
from gate.github.target import PullNow
from gate.model.finding import worst_first
from gate.model.report import Report


@dataclass(frozen=True, kw_only=True, slots=True)
class Fixed:
    """One added line and what it could be."""

    path: str
    line: int
    was: str
    fix: Fix


def fixes(api: Api, pull: PullNow, report: Report) -> list[Fixed]:
    """What could be fixed, worst first, one a line. Raises the forge's errors."""
    wanted = [
        f
        for f in worst_first(report.findings)
        if f.rule_id in FIXES and f.primary.line and f.suppressed_by is None
    ]
    if not wanted:
        return []
    added = review.added_lines(api, pull, {f.primary.path for f in wanted})
    out: dict[tuple[str, int], Fixed] = {}
    for finding in wanted:
        at = (finding.primary.path, finding.primary.line or 0)
        fix = fix_of(finding.rule_id, added[at]) if at in added and at not in out else None
        if fix is not None:
            out[at] = Fixed(path=at[0], line=at[1], was=added[at], fix=fix)
    return list(out.values())[: review.MOST]


def suggestions(found: Sequence[Fixed]) -> list[review.Suggestion]:
    """As review comments; the key is the same as long as path, old and new line are."""
    return [
        review.Suggestion(
            path=f.path,
            line=f.line,
            body=f"{f.fix.why} (gate; a suggestion, to be read before it is taken)\n\n"
            + _fenced("suggestion", f.fix.line),
            key=hashlib.sha256("\0".join((f.path, f.was, f.fix.line)).encode()).hexdigest()[:16],
        )
        for f in found
    ]


def section(found: Sequence[Fixed]) -> str:
    """The same for the comment, as differences; empty without any."""
    if not found:
        return ""
    parts = [f"\n<details><summary>Safe fixes: {len(found)}</summary>\n"]
    for f in found:
        place = markdown_code(f"{display_path(f.path)}:{f.line}")
        difference = _fenced("diff", f"-{f.was}", f"+{f.fix.line}")
        parts.append(f"{place} {f.fix.why}\n\n{difference}\n")
    return "\n".join([*parts, "</details>\n"])


def _fenced(language: str, *lines: str) -> str:
    """A block of exactly these lines; fix_of has seen to it that they hold nothing that does not show."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence + language, *lines, fence])
