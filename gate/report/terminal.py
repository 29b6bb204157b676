"""The report for a person at a terminal: the answer, why, everything behind it, and the answer once more."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gate.escape import display_path, terminal
from gate.model.behaviour import Behaviour
from gate.model.finding import Finding, worst_first
from gate.model.report import Report
from gate.model.rule import Severity
from gate.model.score import Verdict
from gate.model.stage import Stage, StageOutcome, incomplete_stages
from gate.report import exercised, incidents, summary

_MOST_INCIDENTS: Final = 8
_MOST_FINDINGS: Final = 40
_MOST_BEHAVIOURS: Final = 40
_MOST_RUNS: Final = 16
_MOST_UNRUN: Final = 12
_MOST_OVERRIDES: Final = 20
_COLOURS: Final = {
    Verdict.PASS: "green",
    Verdict.WARN: "yellow",
    Verdict.FAIL: "red",
    Verdict.INCONCLUSIVE: "magenta",
}
_MARKS: Final = {Verdict.PASS: "✓", Verdict.WARN: "!", Verdict.FAIL: "✗", Verdict.INCONCLUSIVE: "?"}
_LEVELS: Final = {
    Severity.CRITICAL: "bold red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
}


def _says(text: str, style: str = "", limit: int = 400) -> Text:
    """Text made safe; Text never reads markup."""
    return Text(terminal(text, limit), style=style, overflow="fold")


def _grid(*widths: int | None) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0), expand=False)
    for width in widths:
        grid.add_column(min_width=width, no_wrap=width is not None, overflow="fold")
    return grid


class TerminalReporter:
    """``color`` adds ANSI colours; ``width`` is in columns; ``unicode`` False keeps to ASCII boxes."""

    name = "terminal"

    def __init__(
        self, *, color: bool = False, width: int = 80, unicode: bool = True, verbose: bool = False
    ) -> None:
        self.color = color
        self.verbose = verbose
        self.width = max(40, min(width, 120))
        self.unicode = unicode

    def render(self, report: Report) -> str:
        """The whole report, lines without trailing blanks."""
        out = io.StringIO()
        console = Console(
            file=out,
            width=self.width,
            force_terminal=self.color,
            color_system="standard" if self.color else None,
            no_color=not self.color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )
        console.print(self._panel(report))
        for title, body in self._sections(report):
            console.print()
            console.print(Text(terminal(title), style="bold"))
            console.print(Padding(body, (0, 0, 0, 2)))
        console.print()
        console.print(self._last(report))
        text = "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
        return text if self.unicode else _to_ascii(text)

    def _panel(self, report: Report) -> Panel:
        colour = _COLOURS[report.verdict]
        word, gloss = summary.verdict_words(report)
        head = Text.assemble((f"{_MARKS[report.verdict]} {word}", f"bold {colour}"), (f"  {gloss}", ""))
        rows: list[RenderableType] = [head, *_figure(report), Text(), self._gauge(report, colour), Text()]
        rows += [Text.assemble("• ", _says(reason)) for reason in report.reasons[:6]]
        if len(report.reasons) > 6:
            rows.append(Text(f"• {len(report.reasons) - 6} more reasons in report.json"))
        rows += [Text(), Text.assemble(("Next  ", "bold"), _says(summary.next_step(report)))]
        return Panel(
            Group(*rows),
            title=Text(" gate ", style="bold"),
            title_align="left",
            subtitle=self._range(report),
            subtitle_align="left",
            border_style=colour,
            box=box.ROUNDED if self.unicode else box.ASCII,
            padding=(1, 2),
            width=self.width,
        )

    def _last(self, report: Report) -> Text:
        """The verdict once more: what is in sight when everything above has scrolled away."""
        line = Text.assemble(f"{_MARKS[report.verdict]} ", _says(incidents.last_line(report)))
        line.stylize(f"bold {_COLOURS[report.verdict]}")
        return line

    def _gauge(self, report: Report, colour: str) -> Text:
        cells = 30
        full = round(report.score.value * cells / 100)
        return Text.assemble(
            (f"Score {report.score.value}", "bold"),
            " of 100  ",
            ("█" * full, colour),
            ("░" * (cells - full), "dim"),
            (f"  warn {report.thresholds.warn} · block {report.thresholds.fail}", "dim"),
            ("\nof what could be looked at" if incomplete_stages(report.stages) else "", "dim"),
        )

    def _range(self, report: Report) -> Text:
        change = report.change
        ai, of, _ = summary.disclosed(report)
        parts = [terminal(change.repo.rstrip("/").rsplit("/", 1)[-1], 24)]
        if change.base and change.head:
            parts.append(f"{terminal(change.base[:10])}..{terminal(change.head[:10])}")
        if change.commits:
            parts.append(summary.amount(len(change.commits), "commit"))
        parts.append(summary.amount(len(change.files), "file"))
        if ai:
            parts.append(f"{ai} of {of} disclose AI")
        return Text(f" {' · '.join(parts)} ", style="dim", overflow="ellipsis", no_wrap=True)

    def _sections(self, report: Report) -> Iterable[tuple[str, RenderableType]]:
        blind = incomplete_stages(report.stages)
        if blind:
            yield "Could not look", self._blind(report)
        yield from self._found(report)
        new, gone = report.behaviour.new, report.behaviour.gone
        same = f"{report.behaviour.unchanged_count} as on base"
        if new:
            yield f"Does what base does not ({len(new):,} new, {same})", self._behaviours(new, "+", "red")
        elif summary.was_run(report):
            yield "Behaviour", Text(f"Nothing new was seen ({same}).")
        else:
            yield "Behaviour", Text("Unknown: nothing of this change was run.", style="magenta")
        if gone:
            yield f"No longer does ({len(gone):,})", self._behaviours(gone, "-", "green")
        if report.overrides:
            of = f"{sum(o.accepted for o in report.overrides)} accepted of {len(report.overrides)} asked for"
            yield f"Overrides ({of})", self._overrides(report)
        if report.score.contributions:
            yield f"How the score came to {report.score.value}", self._score(report)
        if any(c.is_ai for c in report.commits):
            yield "AI attribution (disclosed by the commits)", self._attribution(report)
        if report.sandbox.runs:
            yield self._sandbox_title(report), self._runs(report)
        if unrun := exercised.rows(report):
            yield "Changed lines that did not run", self._unrun(unrun)
        if report.sandbox.not_exercised:
            yield "Not exercised", self._not_exercised(report)
        yield "Stages", self._stages(report)

    def _blind(self, report: Report) -> Table:
        grid = _grid(10, None)
        for stage in incomplete_stages(report.stages):
            grid.add_row(
                _says(stage.name, "bold magenta", 40), _says(f"{stage.outcome.value}: {stage.reason}")
            )
        return grid

    def _found(self, report: Report) -> Iterable[tuple[str, RenderableType]]:
        if joined := incidents.incidents(report):
            yield f"Incidents ({len(joined):,})", self._incidents(joined)
        if report.findings:
            yield f"Findings ({len(report.findings):,}), worst first", self._findings(report)

    def _incidents(self, joined: tuple[incidents.Incident, ...]) -> Table:
        grid = _grid(8, None)
        for one in joined[:_MOST_INCIDENTS]:
            label = Text(one.severity.value.upper(), style=_LEVELS[one.severity])
            grid.add_row(label, _says(incidents.plain(one.sentence), "bold", 500))
        if len(joined) > _MOST_INCIDENTS:
            grid.add_row("", Text(f"… {len(joined) - _MOST_INCIDENTS:,} more in report.json", "dim"))
        return grid

    def _findings(self, report: Report) -> Group:
        ranked = worst_first(report.findings)
        rows: list[RenderableType] = []
        for finding in ranked[:_MOST_FINDINGS]:
            rows += [self._finding(finding), Text()]
        if len(ranked) > _MOST_FINDINGS:
            rows.append(Text(f"… {len(ranked) - _MOST_FINDINGS:,} more, none worse, in report.json", "dim"))
        elif rows:
            rows.pop()
        return Group(*rows)

    def _finding(self, finding: Finding) -> Table:
        grid = _grid(8, None)
        path, lines = summary.location_parts(finding)
        about = [finding.rule_id, f"{finding.confidence.value} confidence"]
        if finding.stage.value == "behaviour":
            about.append("seen running")
        if finding.hard_block:
            about.append("blocks by itself")
        grid.add_row(
            Text(finding.severity.value.upper(), style=_LEVELS[finding.severity]),
            _says(finding.message, "bold"),
        )
        grid.add_row("", Text.assemble(_says(display_path(path, 100), "cyan"), (lines, "cyan")))
        for key, value in list(finding.evidence.items())[:6]:
            line = _says(value, limit=220)
            grid.add_row("", Text.assemble((f"{terminal(key, 20)}: ", "dim"), line))
        if finding.suppressed_by:
            grid.add_row("", _says(f"the author marked it {finding.suppressed_by}: shown, not obeyed", "dim"))
        grid.add_row("", _says(" · ".join(about), "dim"))
        return grid

    def _behaviours(self, behaviours: tuple[Behaviour, ...], mark: str, colour: str) -> Table:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        ranked = summary.ordered(behaviours)
        for item in ranked[:_MOST_BEHAVIOURS]:
            what = _says(item.subject, limit=160)
            for key in ("host", "argv", "channel"):
                if item.detail.get(key):
                    what.append(f"  ({terminal(item.detail[key], 120)})", style="dim")
            if item.denied:
                what.append("  refused by the sandbox", style="dim")
            if item.at is not None and item.at.line:
                what.append(f"  at {display_path(item.at.path, 60)}:{item.at.line}", style="dim")
            grid.add_row(Text(f"{mark} {summary.verb(item)}", style=colour), what)
        if len(ranked) > _MOST_BEHAVIOURS:
            grid.add_row("", Text(f"… {len(ranked) - _MOST_BEHAVIOURS:,} more in report.json", style="dim"))
        return grid

    def _overrides(self, report: Report) -> Table:
        grid = _grid(10, None)
        for decision in report.overrides[:_MOST_OVERRIDES]:
            told = summary.override_row(decision)
            word, style = ("accepted", "yellow") if decision.accepted else ("refused", "magenta")
            end = decision.refused or str(told["until"])
            grid.add_row(Text(word, style=style), _says(decision.override.reason, "bold", 220))
            grid.add_row(
                "", _says(f"by {decision.override.by} in {decision.override.source}: {end}", limit=220)
            )
            grid.add_row("", _says(f"{decision.override.what} ({told['covers']})", "dim"))
        if len(report.overrides) > _MOST_OVERRIDES:
            more = len(report.overrides) - _MOST_OVERRIDES
            grid.add_row("", Text(f"… {more} more in report.json", style="dim"))
        return grid

    def _score(self, report: Report) -> Table:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_column(overflow="fold")
        ranked = sorted(report.score.contributions, key=lambda c: (-c.points, c.rule_id))
        for item in ranked[:20]:
            grid.add_row(
                Text(f"{item.points:+.1f}", "bold"), _says(item.rule_id, limit=60), _says(item.why, "dim")
            )
        if len(ranked) > 20:
            rest = sum(c.points for c in ranked[20:])
            grid.add_row(Text(f"{rest:+.1f}", "bold"), Text(f"{len(ranked) - 20} more rules"), "")
        return grid

    def _attribution(self, report: Report) -> Group:
        rows = []
        for item in [c for c in report.commits if c.is_ai][:10]:
            proof = item.evidence[0] if item.evidence else None
            line = Text.assemble((terminal(item.commit[:10]), "cyan"), "  ", _says(item.tool or "an AI tool"))
            line.append(f" ({item.confidence or 'unknown'})")
            if proof is not None:
                line.append(f"  {terminal(proof.where, 40)}: {terminal(proof.matched, 80)}", style="dim")
            rows.append(line)
        rows.append(Text("Commits that disclose nothing are not proof of a human author.", style="dim"))
        return Group(*rows)

    def _sandbox_title(self, report: Report) -> str:
        used = report.sandbox
        parts = [used.backend or "unknown backend"]
        parts += [f"isolation: {used.isolation}"] if used.isolation else []
        parts += [f"tracer: {used.tracer}"] if used.tracer else []
        lost = used.completeness
        if not lost.whole:
            parts.append(f"INCOMPLETE TRACE: {lost.dropped} dropped, {lost.unparsed} unparsed")
        kept = sum(1 for run in used.runs if run.kept_at)
        parts += [f"{kept} of {len(used.runs)} told again"] if kept else []
        return f"Runs ({', '.join(parts)})"

    def _runs(self, report: Report) -> Table:
        grid = Table.grid(padding=(0, 2, 0, 0))
        for justify in ("left", "left", "left", "left", "right", "right"):
            grid.add_column(justify="right" if justify == "right" else "left", overflow="fold")
        grid.add_row(*(Text(t, style="dim") for t in ("", "", "base", "head", "time", "memory")))
        pairs = summary.run_pairs(report)
        for pair in pairs[:_MOST_RUNS]:
            head = pair.head
            grid.add_row(
                Text(pair.phase, style="dim"),
                _says(pair.target, limit=60),
                Text(summary.outcome_words(pair.base)),
                Text(summary.outcome_words(head), style="yellow" if pair.trouble else ""),
                Text("-" if head is None else f"{head.seconds:.1f} s"),
                Text("-" if head is None else summary.mebibytes(head.peak_memory)),
            )
            if note := summary.run_note(head):
                grid.add_row("", _says(note, "magenta"), "", "", "", "")
        if len(pairs) > _MOST_RUNS:
            grid.add_row("", Text(f"… {len(pairs) - _MOST_RUNS} more", style="dim"), "", "", "", "")
        return grid

    def _unrun(self, unrun: list[exercised.Row]) -> Table:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(overflow="fold")
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for row in unrun[:_MOST_UNRUN]:
            why = f"{row.reason}{f' ({row.detail})' if row.detail else ''}"
            some = "lines" if {",", "-"} & set(row.lines) else "line"
            lines = f"{some} {row.lines}: " if row.lines else ""
            place = _says(display_path(row.path, 60), "cyan")
            grid.add_row(place, Text(f"{row.figure} ran"), _says(lines + why))
        if len(unrun) > _MOST_UNRUN:
            grid.add_row(Text(f"… {len(unrun) - _MOST_UNRUN} more", style="dim"), "", "")
        return grid

    def _not_exercised(self, report: Report) -> Table:
        grid = Table.grid(padding=(0, 2, 0, 0))
        items = report.sandbox.not_exercised
        for item in items[:12]:
            what = f"{item.target}: {item.reason}" if item.target != item.path else item.reason
            grid.add_row(_says(display_path(item.path, 60), "cyan"), _says(what))
        if len(items) > 12:
            grid.add_row(Text(f"… {len(items) - 12} more", style="dim"), "")
        return grid

    def _stages(self, report: Report) -> Table:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        quiet = [] if self.verbose else [stage for stage in report.stages if _says_nothing(stage, report)]
        for stage in report.stages:
            if stage in quiet:
                continue
            style = {StageOutcome.DONE: "green", StageOutcome.SKIPPED: "dim"}.get(stage.outcome, "magenta")
            grid.add_row(
                _says(stage.name, limit=40),
                Text(f"{stage.seconds:.1f} s", style="dim"),
                Text(stage.outcome.value, style=style),
                _says(stage.reason, "dim"),
            )
        if quiet:
            grid.add_row(Text(f"… {len(quiet)} scanners", style="dim"), "", "done", Text("-v lists", "dim"))
        total = report.timings.get("total")
        if total is not None:
            grid.add_row(
                Text("all", "bold"), Text(f"{total:.1f} s", "bold"), "", Text("stages overlap", "dim")
            )
        return grid


def _says_nothing(stage: Stage, report: Report) -> bool:
    """A scanner that looked and is done, in a check that passed."""
    return (
        report.verdict is Verdict.PASS
        and stage.name.startswith("prescreen:")
        and stage.outcome is StageOutcome.DONE
        and not stage.reason
    )


def _figure(report: Report) -> list[RenderableType]:
    """The share that ran, and why the rest did not."""
    why, detail = exercised.main_reason(report)
    words = exercised.headline(report)
    style = "magenta" if why else "green"
    return (
        [_says(f"{words}{f'; {why}' if why else ''}{f' ({detail})' if detail else ''}", style)]
        if words
        else []
    )


_ASCII: Final = str.maketrans(
    {"✓": "+", "✗": "x", "█": "#", "░": ".", "·": "-", "•": "*", "…": "~", "│": "|"}
)


def _to_ascii(text: str) -> str:
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode()


REPORTER: Final = TerminalReporter()
