"""Draws a history's tally as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.attribution.history import Count, History, summed

_MOST_TOOLS: Final = 8
_TABLES_END: Final = "Disclosed only: a commit without any sign may still have been written by a tool."


def render(found: History) -> str:
    """Two tables (per tool, per month) and a line on what the figures are not. ASCII, ends in a newline."""
    if not found.total:
        return "No commits.\n"
    total, ai = summed(found.total.values()), summed(found.ai.values())
    tools = _by_tool(found)
    rows = [
        ["tool", "commits", "share", "lines added", "share", "first", "last"],
        *(
            [_name(tool), *_figures(count, total), min(months), max(months)]
            for tool, (count, months) in tools.items()
        ),
        ["all disclosed AI", *_figures(ai, total), "", ""],
        [
            "all commits",
            f"{total.commits:,}",
            "",
            _number(total.lines),
            "",
            min(found.total),
            max(found.total),
        ],
    ]
    parts = [_table(rows)]
    if tools:
        parts.append(_table(_monthly(found, list(tools))))
    parts.append(
        f"Automation without AI: {found.bots.commits:,} commits. Accepted suggestions only: "
        f"{found.suggested.commits:,}. Not counted, as only weak signs, finders or reviewers show: "
        f"{found.only_weak.commits:,}."
    )
    if found.attested:
        lines = ", ".join(f"{_name(tool)} {n:,}" for tool, n in sorted(found.attested.items(), key=_most))
        parts.append(f"Lines attested by git notes: {lines}.")
    parts.append(_TABLES_END)
    return "\n\n".join(parts) + "\n"


def _most(item: tuple[str, int]) -> tuple[int, str]:
    return (-item[1], item[0])


def _by_tool(found: History) -> dict[str, tuple[Count, list[str]]]:
    tools: dict[str, tuple[Count, list[str]]] = {}
    for (month, tool), count in found.tools.items():
        whole, months = tools.setdefault(tool, (Count(), []))
        whole.add(count.commits, count.lines)
        months.append(month)
    return dict(sorted(tools.items(), key=lambda item: (-item[1][0].commits, item[0])))


def _monthly(found: History, tools: Sequence[str]) -> list[list[str]]:
    """Months from the first disclosure on; beyond eight tools the rest share a column."""
    shown, rest = tools[:_MOST_TOOLS], tools[_MOST_TOOLS:]
    rows = [["month", "commits", "AI", "AI lines", *(_name(t) for t in shown), *(["other"] if rest else [])]]
    first = min(found.ai)
    for month in sorted(found.total):
        if month < first:
            continue
        total, ai = found.total[month], found.ai.get(month, Count())
        cells = [found.tools.get((month, tool), Count()).commits for tool in shown]
        if rest:
            cells.append(sum(found.tools.get((month, tool), Count()).commits for tool in rest))
        shares = [_share(ai.commits, total.commits), _share(ai.lines, total.lines)]
        rows.append([month, f"{total.commits:,}", *shares, *(f"{n:,}" if n else "." for n in cells)])
    return rows


def _figures(count: Count, total: Count) -> list[str]:
    return [
        f"{count.commits:,}",
        _share(count.commits, total.commits),
        _number(count.lines),
        _share(count.lines, total.lines),
    ]


def _share(part: int | None, whole: int | None) -> str:
    return f"{100 * (part or 0) / whole:.1f}%" if whole else "-"


def _number(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def _name(tool: str) -> str:
    """A tool's name can come from a note or an account: only plain characters reach the terminal."""
    return ascii(tool)[1:-1][:24]


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)),
        ]
        return "  ".join(cells).rstrip()

    head, *body = rows
    return "\n".join([line(head), "  ".join("-" * w for w in widths), *(line(row) for row in body)])
