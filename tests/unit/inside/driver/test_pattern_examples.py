"""Texts that regular expressions match, and the functions that are called with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gate.inside.driver import pattern_examples
from tests.unit.inside.driver.harness import drive, lay_tree


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"([+-])?([0-9]+)([WDHM])$", {"+1W", "-1W", "1W", "+1D", "+1H", "+1M"}),
        (r"(?P<a>foo|bar)-(?P=a)", {"foo-foo"}),
        (r"^\d{4}-\d{2}-\d{2}$", {"1111-11-11"}),
        (r"(?i)^(get|post)\s+(\w+)", {"get g", "post g"}),
        (r"^#([0-9a-f]{3}){1,2}$", {"#111", "#aaa"}),
        (r"[^a-z]+x", {"1x"}),
    ],
)
def test_each_way_of_a_pattern_is_taken(pattern: str, texts: set[str]) -> None:
    found = pattern_examples.examples(re.compile(pattern))
    assert texts <= set(found)
    assert all(re.search(pattern, text) for text in found)


@pytest.mark.parametrize(
    "pattern", [r"(?=b)a", r"(?:" * 60 + "a" + ")" * 60, r"a{4000}", r"(a|b|c|d){9}" * 16]
)
def test_odd_patterns_cost_nothing(pattern: str) -> None:
    assert len(pattern_examples.examples(re.compile(pattern))) <= 8


def test_no_place_is_made() -> None:
    source = "import re\ndef f(text):\n    return re.match('(https?://|[.]{2}/|g[.])\\\\w+', text)\n"
    space: dict[str, object] = {}
    exec(source, space)
    assert pattern_examples.of(space["f"]) == []


def test_what_stands_behind_a_pattern_runs(tmp_path: Path) -> None:
    source = """
        import re
        _PLAIN = re.compile("v([0-9]+)[.]([0-9]+)")
        def span(text):
            found = re.compile("([+-])?([0-9]+)([DH])$").match(text)
            if not found:
                return None
            if found[3] == "D":
                return 24 * int(found[2])
            return int(found[2])
        def version(value):
            found = _PLAIN.match(value)
            if found:
                return int(found[1])
    """
    tree = lay_tree(tmp_path / "t", {"spans.py": source})
    item = {"do": "import", "module": "spans", "path": "spans.py", "calls": ["span", "version"]}
    seen = drive(tree, {"items": [item], "lines": {"spans.py": [[6, 9], [13, 13]]}})
    assert seen.item["lines"]["spans.py"] == [6, 7, 8, 9, 13]
