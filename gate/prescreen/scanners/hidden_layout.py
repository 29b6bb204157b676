"""Text out of sight: far to the right, behind a line's end that viewers do not show, in another encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Confidence, Severity
from gate.prescreen.interface import View
from gate.prescreen.scanners.hidden_characters import code_points, lines_with
from gate.prescreen.text_rule import CODE, TextHit, rule
from gate.regex import regex

_CONTROL: Final = regex(r"[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x84\x86-\x9f]")
_FAR: Final = regex(r"[ \t]{80,}+")
_HARMLESS_CODECS: Final = regex(
    r"^(?:us-?ascii|ascii|latin-?1|iso-?8859-?\d+|iso-latin-1|cp125\d|windows-125\d|l1)$"
)
_SAME_AS_ASCII: Final = regex(r"^(?:us-?ascii|ascii)$")


@rule(
    "hidden.far-right",
    "Code out of sight at the right",
    severity="high",
    confidence="medium",
    topic="hidden-text",
    cwe=(451, 506),
    attack=("T1027",),
    why="Diff views cut long lines; blanks push a payload where nobody scrolls.",
    fix="Put the code on a line of its own.",
)
def far_right(view: View) -> Iterator[TextHit]:
    """Code pushed out of sight by a long run of blanks, beyond what a diff view shows without scrolling."""
    if view.language not in CODE and view.language not in (None, "config"):
        return
    start = end = -1
    for match in _FAR.finditer(view.text):
        if match.start() > end:  # another line: looked for once a line, or one long line costs its square
            start = view.text.rfind("\n", max(0, end), match.start()) + 1
            end = view.text.find("\n", match.end())
            end = len(view.text) if end < 0 else end
        tail = view.text[match.end() : min(end, match.end() + 500)]
        if not tail.strip():
            continue
        before = view.text[start : min(match.start(), start + 500)].strip()
        column = match.end() - start
        # Aligned comments and tables stand in company; a payload follows something or holds a call.
        if (
            column < 150
            or (not before and view.language != "python")
            or tail.startswith(("#", "\\", "//", "|"))
        ):
            continue
        line = view.text.count("\n", 0, match.start()) + 1
        active = bool(re.search(r"[(=;`]", tail))
        yield TextHit(
            message="Code stands far to the right, behind a long run of blanks.",
            first=line,
            evidence={"column": str(column + 1), "code": tail.strip()[:120]},
            severity=Severity.HIGH if active else Severity.MEDIUM,
        )


@rule(
    "hidden.encoding",
    "A file that is read in another encoding",
    severity="high",
    confidence="high",
    topic="hidden-text",
    cwe=(838, 451),
    attack=("T1027",),
    why="What the interpreter decodes differs from what the reviewer sees.",
    fix="Save the file as UTF-8 and drop the declaration.",
)
def encoding(view: View) -> Iterator[TextHit]:
    """A file that its interpreter reads in another encoding than the reviewer's screen.

    `# coding: utf-7` or `unicode_escape` can turn what looks like a comment into code. NUL bytes and
    bytes that are no text at all make tools disagree about what the file says.
    """
    code = view.language in CODE
    for problem in dict.fromkeys(view.problems):
        if problem == "bare-cr" or (problem in ("undecodable", "nul", "other-encoding") and not code):
            continue
        name = view.encoding.replace("_", "-")
        if problem == "other-encoding" and _SAME_AS_ASCII.match(name):
            continue
        level = Severity.HIGH
        if problem == "other-encoding" and (
            _HARMLESS_CODECS.match(name) or name.startswith(("utf-16", "utf-32"))
        ):
            level = Severity.MEDIUM
        if problem == "undecodable" and view.language != "python":
            level = Severity.LOW
        yield TextHit(
            message=_PROBLEMS[problem],
            evidence={"problem": problem, "encoding": view.encoding},
            shape=f"{problem} {view.encoding}",
            severity=level,
        )


_PROBLEMS: Final = {
    "other-encoding": "This file is read in another encoding than UTF-8.",
    "unknown-encoding": "This file declares an encoding that does not exist or is none for source text.",
    "conflict": "The byte order mark and the declared encoding contradict each other.",
    "undecodable": "This file holds bytes that its encoding does not allow.",
    "nul": "This source file holds NUL bytes.",
}


@rule(
    "hidden.line-end",
    "A line end or control character that viewers do not show",
    severity="high",
    confidence="high",
    topic="hidden-text",
    cwe=(451, 150),
    attack=("T1027",),
    why="The interpreter starts a new line where the reviewer sees the same one go on.",
    fix="Use newline characters only; write control characters as escapes.",
)
def line_ends(view: View) -> Iterator[TextHit]:
    """A carriage return alone ends a line for the interpreter and not for a diff: what follows is hidden.

    A comment such as `# fine<CR>import os` is two lines to Python and one to most viewers. JavaScript
    does the same with U+2028 and U+2029. Other control characters can rewrite a terminal's screen.
    """
    code = view.language in CODE
    if "bare-cr" in view.problems and code:
        for number in range(2, len(view.lines or ())):
            if view.lines and view.lines[number - 1] == view.lines[number - 2]:
                yield TextHit(
                    message="A carriage return hides the start of another line.",
                    first=number,
                    evidence={"code": view.quote(number)[:120]},
                )
    if view.language in ("javascript", "typescript") and not view.text.isascii():
        for line, _ in lines_with(re.compile("[\u2028\u2029]"), view.text):
            yield TextHit(message="A character that ends a line in JavaScript, and in no diff.", first=line)
    for line, matches in lines_with(_CONTROL, view.text):
        if code and set(matches) != {"\0"}:
            yield TextHit(
                message="A control character stands in the source.",
                first=line,
                evidence={"code points": code_points("".join(matches))},
                severity=Severity.MEDIUM,
                confidence=Confidence.MEDIUM,
            )
