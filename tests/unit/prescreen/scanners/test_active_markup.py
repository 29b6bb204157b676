"""Texts that act where they are shown, and markup of translators that only looks."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.hidden_text import HiddenText
from tests.prescreen_support import make_request

ACTS = {
    "handler": (
        "locale/sv.json",
        '{"a": "<img src=\\"/x\\" onerror=\\"this.src=\'/t?\'+document.cookie\\">"}',
        "high",
    ),
    "escaped": ("locale/sv.json", r'{"a": "\u003cimg src=x onerror=alert(1)\u003e"}', "medium"),
    "link": ("locale/de.po", 'msgid "a"\nmsgstr "<a href=\'java\tscript:steal()\'>b</a>"\n', "medium"),
    "script": (
        "seeds/pages.sql",
        "INSERT INTO page VALUES ('<script src=https://x.invalid/a.js></script>');",
        "high",
    ),
    "two-lines": ("conf/text.yml", "a: |\n  <svg\n    onload=fetch('/t')>\n", "high"),
    "page-within": ("a.toml", "a = '''<iframe srcdoc=\"&lt;script&gt;\"></iframe>'''", "medium"),
    "in-tests": ("tests/data/a.json", '{"a": "<img onerror=alert(1)>"}', "low"),
}
LOOKS = {
    "bold": ("locale/sv.json", '{"a": "<b>x</b> <a href=\\"https://a.example/\\">y</a> < 3"}'),
    "placeholder": ("locale/sv.json", '{"a": "<0>x</0> <name> one-way on=off onward"}'),
    "page": ("templates/a.html", "<button onclick='go()'>"),
    "prose": ("docs/a.md", "Never write <img onerror=alert(1)>."),
    "component": ("a.json", '{"a": "<Trans onlyOne>x</Trans>"}'),
}


def _found(path: str, text: str, base: str | None = None) -> list[str]:
    request = make_request({path: text}, {path: base} if base is not None else {})
    return [f.severity.value for f in HiddenText().scan(request).findings if f.rule_id == "markup.active"]


@pytest.mark.parametrize("case", ACTS)
def test_what_acts_is_told(case: str) -> None:
    path, text, severity = ACTS[case]
    assert _found(path, text) == [severity]


@pytest.mark.parametrize("case", LOOKS)
def test_what_only_looks_is_not(case: str) -> None:
    assert _found(*LOOKS[case]) == []


def test_what_base_had_is_not() -> None:
    path, text, _ = ACTS["handler"]
    assert _found(path, text.replace('{"a"', '{"b": "", "a"'), text) == []


def test_more_than_is_read_says_so() -> None:
    links = "<a href='/x'>y</a>" * 5_001
    assert _found("a.json", '{"a": "' + links + '"}') == ["medium"]
    assert _found("a.json", '{"b": 1, "a": "' + links + '"}', '{"a": "' + links + '"}') == []


def test_a_long_line_takes_no_time() -> None:
    assert _found("a.json", '{"a": "' + "<a href=" * 200_000 + '"}') == []
