"""The report at a terminal and as a page: whole, narrow, piped, and unable to act."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from dataclasses import replace
from html import unescape

import pytest
from hypothesis import given, settings

from gate.model.exercised import Exercised, FileExercised, UnrunLines, UnrunReason
from gate.model.report import Report
from gate.model.run import Completeness
from gate.report.html import REPORTER as HTML
from gate.report.registry import REPORTERS
from gate.report.summary import next_step, verdict_words
from gate.report.terminal import REPORTER, TerminalReporter
from tests.golden import sample
from tests.golden.nasty import NASTY, nasty
from tests.golden.rendered import look_at_html
from tests.unit.test_escape import HOSTILE

MOVES = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
ONLY_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("report", [sample.hostile(), sample.harmless(), sample.blind()])
def test_lines_fit_and_carry_no_colour_unless_told(report: Report, width: int) -> None:
    text = TerminalReporter(width=width).render(report)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_environment_does_not_change_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, colours = REPORTER.render(sample.hostile()), TerminalReporter(color=True).render(sample.hostile())
    for name, value in {"COLUMNS": "33", "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    assert REPORTER.render(sample.hostile()) == plain
    assert TerminalReporter(color=True).render(sample.hostile()) == colours
    assert ONLY_COLOURS.search(colours)


def test_verdict_first_then_why_and_everything_is_there() -> None:
    text = REPORTER.render(sample.hostile())
    order = [
        "Blocked", "Score 94 of 100", "hard block", "Next", "Could not look", "Incidents (1)",
        "On import,", "Findings (5)", "Does what base does not", "No longer does",
        "How the score came to 94", "+58.0", "Claude Code", "Runs (docker", "timed out",
        "Not exercised", "needs numpy", "Stages",
    ]  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_every_format_for_people_says_how_many_runs_are_told_again() -> None:
    report = sample.harmless()
    box = report.sandbox
    kept = tuple(replace(run, kept_at=1.0) if at < 2 else run for at, run in enumerate(box.runs))
    again = replace(report, sandbox=replace(box, runs=kept))
    for style in ("terminal", "markdown", "html"):
        assert f"2 of {len(kept)}" in REPORTERS[style].render(again), style
        assert "told again" not in REPORTERS[style].render(report), style


def test_a_pass_counts_the_scanners_that_say_nothing_and_verbose_lists_them() -> None:
    short, long = (TerminalReporter(verbose=loud).render(sample.harmless()) for loud in (False, True))
    assert "… 2 scanners" in short
    assert "prescreen:bandit" not in short
    assert "prescreen:bandit" in long
    assert "scanners" not in long
    assert "prescreen:" in TerminalReporter().render(sample.hostile())


def test_a_pass_of_which_nothing_ran_says_what_to_set() -> None:
    unrun = UnrunLines(spans=((1, 2),), reason=UnrunReason.DEPENDENCY_MISSING, detail="numpy")
    file = FileExercised(path="a.py", language="python", executable=2, ran=0, unrun=(unrun,))
    report = replace(sample.harmless(), findings=(), exercised=Exercised(files=(file,)))
    assert next_step(report).startswith("Nothing of the change ran, so nothing can be said of what it does.")
    assert "`sandbox.setup_files`" in next_step(report)
    assert verdict_words(report) == ("Passed", "judged by its text alone: none of its lines ran")
    ran = replace(report, exercised=Exercised(files=(replace(file, ran=1),)))
    assert next_step(ran) == "Nothing has to be done."
    assert verdict_words(ran) == ("Passed", "no risk worth stopping for was seen")


def test_nothing_run_is_unknown_and_not_nothing() -> None:
    text = REPORTER.render(sample.blind())
    assert "Unknown: nothing of this change was run." in text
    assert "no container engine answers" in " ".join(text.split())
    assert "Nothing new was seen" not in text


@settings(deadline=None, max_examples=40)
@given(HOSTILE)
@pytest.mark.slow
def test_hostile_text_moves_nothing(text: str) -> None:
    for colour in (False, True):
        shown = TerminalReporter(color=colour).render(nasty(text))
        assert not re.search(
            r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", ONLY_COLOURS.sub("", shown)
        )


def test_long_lists_are_cut_and_counted() -> None:
    report = sample.hostile()
    box, diff = report.sandbox, report.behaviour
    probes = tuple(
        replace(r, probe=replace(r.probe, id=str(i)), side="head", fault="engine gone" if i < 3 else None)
        for i, r in enumerate(box.runs * 5)
    )
    big = replace(
        report,
        reasons=report.reasons * 9,
        behaviour=replace(diff, new=tuple(replace(diff.new[0], denied=True) for _ in range(90))),
        score=replace(report.score, contributions=report.score.contributions * 9),
        sandbox=replace(
            box,
            runs=probes,
            not_exercised=box.not_exercised * 30,
            completeness=Completeness(dropped=3, unparsed=1),
        ),
        findings=tuple(replace(f, suppressed_by="nosec") for f in report.findings),
    )
    text = " ".join(REPORTER.render(big).split())
    for part in (
        "12 more reasons in report.json", "50 more in report.json", "25 more rules", "24 more", "18 more",
        "INCOMPLETE TRACE: 3 dropped, 1 unparsed", "not observed", "engine gone", "refused by the sandbox",
        "the author marked it nosec: shown, not obeyed",
    ):  # fmt: skip
        assert part in text


def test_ascii_terminals_get_ascii() -> None:
    assert TerminalReporter(unicode=False).render(nasty("é🎉")).isascii()


@pytest.mark.parametrize("reporter", [REPORTER, HTML])
@pytest.mark.slow
def test_thirty_thousand_cheap_findings(reporter: TerminalReporter) -> None:
    report = sample.buried()
    started = time.process_time()
    text = reporter.render(report)
    assert time.process_time() - started < 10
    assert text.index("planted AWS key") < text.index("pseudo-random")
    assert re.search(r"29,?\d\d\d more, none worse", text)
    assert len(text) < 1_000_000


# ---- the page ----------------------------------------------------------------------------------------

SKELETON = look_at_html(HTML.render(nasty("word"))).tags


@pytest.mark.parametrize("text", NASTY)
def test_page_has_only_our_elements(text: str) -> None:
    seen = look_at_html(HTML.render(nasty(text)))
    assert not seen.oddities
    assert not {"img", "iframe", "link", "form", "object"} & set(seen.tags)
    assert seen.tags["script"] == 1
    if text.strip():
        assert seen.tags == SKELETON


@settings(deadline=None, max_examples=40)
@given(HOSTILE)
def test_page_text_builds_nothing(text: str) -> None:
    seen = look_at_html(HTML.render(nasty(text)))
    assert not set(seen.tags) - set(SKELETON)
    assert not seen.oddities
    assert not {name for _, name in seen.attributes if name.startswith("on") or name in ("src", "style")}


def test_page_asks_for_nothing_and_its_policy_allows_only_its_style() -> None:
    page = HTML.render(sample.hostile())
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])  # type: ignore[index]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    assert "url(" not in style[1]
