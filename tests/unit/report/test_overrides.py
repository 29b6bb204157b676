"""Overrides in the reports: everybody sees them, and their texts build nothing (RP-1)."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings

from gate.model.override import Override, OverrideDecision
from gate.model.report import Report
from gate.report.from_json import as_report
from gate.report.html import HtmlReporter
from gate.report.json_v1 import JsonReporter, decode
from gate.report.markdown import MOST_CHARACTERS, MarkdownReporter
from gate.report.terminal import TerminalReporter
from tests.golden import sample
from tests.golden.nasty import NASTY
from tests.golden.rendered import REFERENCES, look_at
from tests.unit.test_escape import HOSTILE


def _told(text: str, count: int = 1) -> Report:
    one = Override(what=text, reason=text, by=text, source="comment", where=text, until=1_801_000_000)
    made = [
        OverrideDecision(override=one, accepted=True, covers=("ab" * 16,)),
        OverrideDecision(override=replace(one, until=None), accepted=False, refused=text),
    ]
    return replace(sample.hostile(), overrides=tuple(made * count))


SKELETON = look_at(MarkdownReporter().render(_told("word"))).tags


def _same(text: str) -> None:
    made = MarkdownReporter().render(_told(text))
    seen = look_at(made)
    assert {t: n for t, n in seen.tags.items() if t != "code"} == {
        t: n for t, n in SKELETON.items() if t != "code"
    }
    assert not seen.oddities
    assert not REFERENCES.search(seen.text)


@settings(deadline=None, max_examples=40)
@given(HOSTILE)
def test_no_text_of_an_override_builds_anything(text: str) -> None:
    _same(text)


@pytest.mark.parametrize("text", NASTY)
def test_known_tricks(text: str) -> None:
    _same(text)


def test_who_why_until_when() -> None:
    text = MarkdownReporter().render(_told("wren"))
    assert "Overrides: 1 accepted of 2 asked for" in text
    assert "**accepted**, until 2027-01-26 · `wren` (1 finding) by `wren` in `comment`" in text
    assert "**refused**, wren · " in text


def test_so_do_terminal_and_page() -> None:
    text = " ".join(TerminalReporter(color=False).render(_told("wren")).split())
    assert "Overrides (1 accepted of 2 asked for)" in text
    assert "accepted wren by wren in comment: until 2027-01-26 wren (1 finding)" in text
    assert "refused wren by wren in comment: wren" in text
    page = HtmlReporter().render(_told("wren"))
    assert "<h2>Overrides <span>1 accepted of 2 asked for</span></h2>" in page
    assert (
        "<b>accepted</b>, until 2027-01-26: <code>wren</code> (1 finding) by wren in comment, reason: wren"
        in page
    )
    nothing = replace(_told("wren"), overrides=())
    assert "Overrides" not in TerminalReporter(color=False).render(nothing) + HtmlReporter().render(nothing)


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.slow
def test_known_tricks_elsewhere(text: str) -> None:
    """No tag on the page, no control character on the terminal."""
    page, plain = (HtmlReporter().render(_told(word)) for word in (text, "word"))
    assert page.count("<") == plain.count("<")
    shown = TerminalReporter(color=False).render(_told(text))
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"]


def test_thousands_still_fit() -> None:
    shown = TerminalReporter(color=False).render(_told("wren", 2_000))
    assert "3980 more in report.json" in shown
    text = MarkdownReporter().render(_told("@🎉<" * 500, 2_000))
    assert len(text.encode()) <= MOST_CHARACTERS
    assert "of 4000 asked for" in text


def test_report_json_keeps_them() -> None:
    report = _told("wren")
    again = as_report(decode(JsonReporter().render(report).encode()))
    assert again.overrides == report.overrides
