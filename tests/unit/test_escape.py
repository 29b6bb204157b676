"""Every escape, against a real renderer and against the runner's own rules."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gate import escape
from tests.golden.nasty import NASTY
from tests.golden.rendered import REFERENCES, look_at

PIECES: Final = st.one_of(
    st.sampled_from(NASTY).map(lambda s: s[:300]),
    st.text(st.characters(exclude_categories=()), max_size=12),
    st.text("`|\\[]()<>!@#*_~:/.w-+=$&;{}\n\r\t 1aG", max_size=24),
)
HOSTILE: Final = st.lists(PIECES, max_size=5).map("".join)


def unseen(text: str) -> str:
    """The text without our invisible breaks, as a reader sees it."""
    return text.replace("\u200b", "")


# ---- visible, terminal, paths ----------------------------------------------------------------------


@settings(deadline=None)
@given(HOSTILE)
def test_visible_leaves_nothing_that_cannot_be_seen(text: str) -> None:
    shown = escape.visible(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    shown.encode("utf-8")
    assert escape.visible(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Kb", "a\\x1b[2Kb"),
        ("\x1b]8;;http://e.example\x1b\\c", "\\x1b]8;;http://e.example\\x1b\\c"),
        ("\x9b31m", "\\u009b31m"),
        ("a\rb\nc\td", "a\\rb\\nc\\td"),
        ("\u202egpj", "\\u202egpj"),
        ("a\u200b\ufeffb", "a\\u200b\\ufeffb"),
        ("\U000e0041", "\\U000e0041"),
        ("\u3164\u2800", "\\u3164\\u2800"),
        ("\udc80\ud800", "\\x80\\ud800"),
        ("e\u0301 ok ünï 日本 🎉", "e\u0301 ok ünï 日本 🎉"),
        ("z" + "\u0301" * 6, "z\u0301\u0301\u0301" + "\\u0301" * 3),
    ],
)
def test_visible_examples(text: str, shown: str) -> None:
    assert escape.visible(text) == shown


@settings(deadline=None)
@given(HOSTILE, st.integers(30, 200))
def test_terminal_is_one_short_line(text: str, limit: int) -> None:
    line = escape.terminal(text, limit)
    assert len(line) <= limit + 1
    assert len(line.splitlines()) <= 1


def test_a_megabyte_costs_nothing_and_is_counted() -> None:
    assert escape.terminal("x" * 1_000_000, 60).endswith("[1000000 in all]")
    assert escape.terminal("x" * 100, 60).endswith("more]")


def test_terminal_lines_ends_lines_at_every_return() -> None:
    assert escape.terminal_lines("a\rb\r\nc\n\td\x1b") == ["a", "b", "c", "    d\\x1b"]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/a.py", "src/a.py"),
        ("a\\nb", "a\\\\nb"),
        ("a\nb", "a\\nb"),
        (" a ", "\\x20a\\x20"),
        ("", "(no path)"),
        ("\udcff", "\\xff"),
        ("x" * 90 + "/tail.py", "x" * 19 + "…" + "x" * 12 + "/tail.py"),
    ],
)
def test_display_path(path: str, shown: str) -> None:
    assert escape.display_path(path, 40) == shown


@settings(deadline=None)
@given(HOSTILE, HOSTILE)
def test_two_short_paths_never_look_the_same(one: str, two: str) -> None:
    # an escape's own letters can only follow a backslash, and a real backslash is doubled
    if one != two and max(len(one), len(two)) < 100 and one and two:
        shown = escape.display_path(one, 5_000), escape.display_path(two, 5_000)
        assert shown[0] != shown[1]


def test_very_long_path_is_cut_in_the_middle() -> None:
    shown = escape.display_path("a/" * 50_000 + "end.py")
    assert len(shown) == 120
    assert shown.endswith("end.py")


# ---- Markdown and HTML through a real implementation --------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(HOSTILE)
@example("@a#1 GH-1 deadbeef1 :x: http://e.example www.e.example a@e.example")
@example("#1deadbeefcafe 9d41e07ac2b8f3561f0e9d8c7b6a5948372615fe")
@example("1. x")
@example("- x")
@example("===")
@pytest.mark.slow
def test_markdown_text_is_only_text_wherever_it_stands(text: str) -> None:
    safe = escape.markdown(text, 500)
    alone = look_at(safe)
    assert set(alone.tags) <= {"p"}
    assert alone.tags["p"] <= 1
    assert not alone.oddities
    assert not REFERENCES.search(alone.text)
    assert unseen(alone.text).strip() == escape._clipped(text, 500).strip()

    cell = look_at(f"| a | b |\n|---|---|\n| {safe} | end |\n")
    assert cell.tags == look_at("| a | b |\n|---|---|\n| x | end |\n").tags
    heading = look_at(f"### {safe} end\n- {safe}\n\nend\n{safe}\n")
    assert set(heading.tags) == {"h3", "ul", "li", "p"}
    folded = look_at(f"<details><summary>{safe}</summary>\n\n</details>\n")
    assert folded.tags == {"details": 1, "summary": 1}
    assert not cell.oddities + heading.oddities + folded.oddities


@settings(max_examples=300, deadline=None)
@given(HOSTILE)
@example("``` \n```")
@example("\\|")
@example("`")
@example(" ` ")
def test_code_span_holds_exactly_the_text(text: str) -> None:
    shown = escape._clipped(text, 300)
    alone = look_at(escape.markdown_code(text))
    assert alone.tags == ({"p": 1, "code": 1} if shown.strip(" ") else {"p": 1})
    if shown.strip(" "):
        assert alone.code == [shown]

    cell = look_at(f"| a | b |\n|---|---|\n| {escape.markdown_code(text, cell=True)} | end |\n")
    plain = look_at("| a | b |\n|---|---|\n| x | end |\n").tags
    assert cell.tags - plain in ({"code": 1}, {})
    assert not plain - cell.tags
    if shown.strip(" "):
        assert cell.code == [shown.replace("\\|", "\\\\x7c")]


@settings(max_examples=100, deadline=None)
@given(HOSTILE)
def test_code_block_cannot_be_closed_from_inside(text: str) -> None:
    seen = look_at("before\n\n" + escape.markdown_block(text) + "\n\nafter")
    assert seen.tags == {"p": 2, "pre": 1, "code": 1}


@settings(deadline=None)
@given(HOSTILE)
def test_html_text_has_no_tag_and_no_quote(text: str) -> None:
    safe = escape.html(text)
    assert not set(safe) & set("<>\"'")
    assert look_at_tags(f'<p title="{safe}">{safe}</p>') == {"p": 1}


def look_at_tags(page: str) -> dict[str, int]:
    from tests.golden.rendered import look_at_html

    seen = look_at_html(page)
    assert not seen.oddities
    assert seen.attributes == {("p", "title")}
    return dict(seen.tags)


# ---- JSON ---------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_json_text_is_exact_unless_it_is_not_unicode(text: str) -> None:
    safe = escape.json_text(text)
    safe.encode("utf-8")
    if not re.search("[\ud800-\udfff]", text):
        assert safe == text


# ---- GitHub's runner ------------------------------------------------------------------------------------

LEADS: Final = (
    "",
    " ",
    "\t",
    "\r",
    "ok\r",
    "ok\r\n",
    "\n\n",
    "\x1b[0m",
    "\u200b",
    "\u2028",
    "\x85",
    "\v",
    "%0A",
)
COMMANDS: Final = ("::set-env name=A::b", "::ADD-MASK::x", "::error file=a::b", "##[add-matcher]x")
RUNNER_VARIANTS: Final = [
    *(lead + command for lead in LEADS for command in COMMANDS),
    *("::stop-commands::t", "##vso[task.setvariable]x", "##teamcity[x]", "x ##[error]y"),
]


def is_command(line: str) -> bool:
    """actions/runner ActionCommand: v2 at the trimmed start, v1 anywhere; plus other runners' forms."""
    return line.strip().startswith("::") or bool(re.search(r"##\w*\[", line))


@pytest.mark.parametrize("text", RUNNER_VARIANTS)
def test_child_output_is_never_a_command(text: str) -> None:
    shown = escape.neutralise_output(text.encode("utf-8"))
    assert not any(is_command(line) for line in re.split(r"[\r\n]", shown))
    assert "\x1b" not in shown


@settings(deadline=None)
@given(HOSTILE)
def test_no_output_whatever_is_a_command(text: str) -> None:
    shown = escape.neutralise_output(text)
    assert not any(is_command(line) for line in shown.splitlines())


def test_output_is_bounded_and_counted() -> None:
    shown = escape.neutralise_output(b"x\n" * 5_000 + b"y" * 1_000_000, width=100, lines=10)
    assert len(shown) < 2_000
    assert "4991 more lines" in shown
    assert len(escape.neutralise_output(b"y" * 1_000_000, width=100)) < 150
    assert escape.neutralise_output(b"") == ""


def test_fence_token_is_new_each_time_and_closes() -> None:
    one, two = escape.without_commands("::error::x"), escape.without_commands("::error::x")
    token = one.split("::")[2].splitlines()[0]
    assert one != two
    assert one.endswith(f"::{token}::\n")
    assert one.count("::error") == one.count("│ ::error") == 1


@settings(deadline=None)
@given(HOSTILE)
def test_workflow_command_stays_one_command(text: str) -> None:
    line = f"::error file={escape.command_property(text)},line=1::{escape.command_data(text)}"
    assert len(line.splitlines()) == 1
    properties = line[len("::error ") :].split("::", 1)[0]
    assert properties.count(",") == 1
    assert ":" not in properties


def test_workflow_command_rules() -> None:
    assert escape.command_data("50%\na\r\nb") == "50%25%0Aa%0Ab"
    assert escape.command_property("a:b,c\n") == "a%3Ab%2Cc\\n"


@settings(deadline=None)
@given(HOSTILE)
def test_output_entry_reads_back_as_one_value(text: str) -> None:
    lines = escape.output_entry("verdict", text).split("\n")
    key, delimiter = lines[0].split("<<")
    assert key == "verdict"
    assert lines.count(delimiter) == 1
    assert lines[-2:] == [delimiter, ""]
    assert "\r" not in "".join(lines)


@pytest.mark.parametrize("key", ["", "A B", "A=b", "A<<x", "PATH\n", "é", "1a"])
def test_output_entry_takes_only_plain_names(key: str) -> None:
    with pytest.raises(ValueError, match="plain output name"):
        escape.output_entry(key, "x")
