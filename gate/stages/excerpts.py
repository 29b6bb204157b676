"""The lines around what was found, read from head's tree when all is judged, for reports that show code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gate.model.change import Tree
from gate.model.excerpt import Excerpt
from gate.model.finding import Finding, worst_first
from gate.model.report import Report
from gate.redaction import redact

MOST: Final = 100
"""Excerpts of one report; the worst findings come first."""
_AROUND: Final = 3
_MOST_LINES: Final = 12
_WIDEST: Final = 300
_BIGGEST: Final = 1 << 20


def with_excerpts(report: Report, head: Tree, secrets: Iterable[str]) -> Report:
    """The report with the lines around its worst findings.

    A file has none when it is over 1 MiB or binary, and when taking out its ``secrets`` (clear text) and
    tokens moves its lines: the middle of a key looks like no key. Never raises for what a tree contains.
    """
    found = [f for f in worst_first(report.findings) if f.primary.line is not None]
    spans = list(dict.fromkeys(_span(f) for f in found))[:MOST]
    known = tuple(sorted(set(secrets)))
    texts: dict[str, list[str]] = {}
    wanted = tuple(dict.fromkeys(path for path, _, _ in spans))
    for path, data in head.read_many(wanted):
        if len(data) <= _BIGGEST and b"\0" not in data:
            texts[path] = _safe_lines(data.decode("utf-8", "surrogateescape"), known)
    made = []
    for path, first, last in spans:
        lines = texts.get(path, [])[first - 1 : last]
        if lines:
            made.append(Excerpt(path=path, first=first, lines=tuple(line[:_WIDEST] for line in lines)))
    return replace(report, excerpts=tuple(made))


def _span(finding: Finding) -> tuple[str, int, int]:
    place = finding.primary
    line = place.line or 1
    first = max(1, line - _AROUND)
    return place.path, first, min((place.end_line or line) + _AROUND, first + _MOST_LINES - 1)


def _safe_lines(text: str, known: tuple[str, ...]) -> list[str]:
    before, after = text.split("\n"), redact(text, known).split("\n")
    if len(before) != len(after):
        return []
    return [line.removesuffix("\r") for line in after]
