"""The words of a JavaScript or TypeScript text: no comments, texts kept as texts, templates walked through.

No parser: what a reader of words can mistake (a regular expression after a bracket, an apostrophe between JSX
tags) costs a hint at most. Time is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(
    r"""
      (?P<space>[^\S\n]+) | (?P<line>\n) | (?P<comment>//[^\n]* | /\*.*?(?:\*/|\Z))
    | (?P<text>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
    | (?P<name>\#?(?:[A-Za-z_$\u0080-\uffff] | \\u[0-9a-fA-F]{4} | \\u\{[0-9a-fA-F]{1,6}\})
              (?:[\w$]|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\})*)
    | (?P<number>\d[\w.]*) | (?P<mark>=>|\?\.(?!\d)|\.\.\.|[=!<>]=+|&&|\|\||\?\?|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE: Final = re.compile(r"(?:\\.|[^`\\$]|\$(?!\{))*", re.DOTALL)
_PATTERN: Final = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
_ESCAPE: Final = re.compile(r"\\u\{?([0-9a-fA-F]{1,6})\}?|\\x([0-9a-fA-F]{2})")
_AHEAD_OF_PATTERN: Final = frozenset(
    ("return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield")
)


@dataclass(frozen=True, slots=True)
class Word:
    """``kind``: name, text, template, number, mark. ``value`` of a text: what it says; ``line``: 1-based."""

    kind: str
    value: str
    line: int


def words(text: str) -> list[Word]:
    """All words in their order."""
    out: list[Word] = []
    open_templates: list[int] = []
    depth, at, line = 0, 0, 1
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:  # nothing but an end inside of a character's escape
            at += 1
            continue
        kind, value = match.lastgroup or "mark", match[0]
        if value == "/" and _pattern_may_follow(out):
            pattern = _PATTERN.match(text, at)
            if pattern is not None:
                out.append(Word("number", "", line))  # a value, whatever it is
                at = pattern.end()
                continue
        at = match.end()
        if kind in ("space", "comment", "line"):
            line += value.count("\n")
            continue
        back = value == "}" and bool(open_templates) and open_templates[-1] == depth
        if value == "`" or back:
            if back:
                open_templates.pop()
                depth -= 1
            said = _TEMPLATE.match(text, at)
            end = said.end() if said else at
            out.append(Word("template", _plain(text[at:end]), line))
            line += text.count("\n", at, end)
            at = end + 1
            if text.startswith("${", end):
                at = end + 2
                depth += 1
                open_templates.append(depth)
            continue
        if value in ("{", "}"):
            depth += 1 if value == "{" else -1
        out.append(Word(kind, _plain(value[1:-1]) if kind == "text" else _plain(value), line))
        line += value.count("\n")
    return out


def _pattern_may_follow(before: list[Word]) -> bool:
    if not before:
        return True
    last = before[-1]
    if last.kind == "name":
        return last.value in _AHEAD_OF_PATTERN
    return last.kind == "mark" and last.value not in (")", "]", "}")


def _plain(said: str) -> str:
    if "\\" not in said:
        return said
    return _ESCAPE.sub(_character, said)


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2], 16)
    return chr(number) if number < 0x110000 else ""
