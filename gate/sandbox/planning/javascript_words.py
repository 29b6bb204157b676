"""The words of a JavaScript or TypeScript text: no comments, texts kept as texts, templates walked through.

No parser: whether a stroke divides or begins a regular expression, and what stands between JSX tags, words
alone cannot tell. Where that could hide what follows, the reading says so (``Reading.doubtful``), and
``bare_words`` reads the text once more in a way that hides nothing. Time is linear in the text.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from typing import Final

_NAME: Final = r"""\#?(?:[A-Za-z_$\u0080-\ufefe\uff00-\uffff] | \\u[0-9a-fA-F]{4} | \\u\{[0-9a-fA-F]{1,6}\})
              (?:[\w$]|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\})*+"""
_END: Final = r"\n\r\u2028\u2029"
"""What ends a line, and with it a comment, in JavaScript; lines are counted by \\n, as git does."""
_WORD: Final = re.compile(
    rf"""
      (?P<space>(?:[^\S\n]|\ufeff)++) | (?P<line>\n) | (?P<comment>//[^{_END}]*+ | /\*.*?(?:\*/|\Z))
    | (?P<name>{_NAME})
    | (?P<number>\d[\w.]*+) | (?P<mark>=>|\?\.(?!\d)|\.\.\.|[=!<>]=+|&&|\|\||\?\?|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BARE: Final = re.compile(
    rf"""
      (?P<space>(?:\s|\ufeff)++)
    | (?P<comment>//[^()`'"={_END}]{{0,200}}+(?=[{_END}]|\Z) | /\*[^()`'"=*]{{0,200}}+\*/)
    | (?P<text>"[\w@:./~\\-]{{0,120}}+" | '[\w@:./~\\-]{{0,120}}+') | (?P<template>`[\w@:./~\\-]{{0,120}}+`)
    | (?P<name>{_NAME})
    | (?P<number>\d[\w.]*+) | (?P<mark>=>|\?\.(?!\d)|\.\.\.|[=!<>]=+|&&|\|\||\?\?|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_INSIDE: Final = {
    quote: re.compile(rf"(?:[^{quote}\\\n\r]++|\\(?:\r\n|.))*+", re.DOTALL) for quote in ("'", '"')
}
_TEMPLATE: Final = re.compile(r"(?:[^`\\$]++|\\.|\$(?!\{))*+", re.DOTALL)
_PATTERN: Final = re.compile(
    rf"/(?:[^/\\\[{_END}]++|\\[^{_END}]|\[(?:[^\]\\{_END}]++|\\[^{_END}])*+\])++/[a-z]*+"
)
_BREAK: Final = re.compile(rf"[{_END}]")
_ESCAPE: Final = re.compile(r"\\u\{?([0-9a-fA-F]{1,6})\}?|\\x([0-9a-fA-F]{2})")
_OLD_COMMENT: Final = re.compile(rf"\A\#![^{_END}]*+|<!--[^{_END}]*+|-->[^{_END}]*+")
_RESERVED: Final = frozenset(
    (
        "return",
        "typeof",
        "case",
        "in",
        "delete",
        "void",
        "throw",
        "new",
        "else",
        "do",
        "instanceof",
        "default",
    )
)
_AHEAD_OF_PATTERN: Final = _RESERVED | {"of", "await", "yield", "extends", "break", "continue", "debugger"}
_SURELY_AHEAD: Final = frozenset(
    (
        "(",
        "{",
        ",",
        "=",
        ":",
        "[",
        "&",
        "|",
        "?",
        ";",
        "=>",
        "==",
        "===",
        "!=",
        "!==",
        "&&",
        "||",
        "??",
        "...",
    )
)
_HIDES: Final = re.compile(r"[`'\"{}]|/[/*]")
_MARKUP: Final = re.compile(r"</[\w>]|/>")
_CLOSED: Final = re.compile(r"/[\w.:-]*+\s*+>")
_BETWEEN: Final = re.compile(r"(=?>|\})([^<>{}]*+)([<{])?")
_NEAR: Final = 300
"""Characters: as far as the end of a doubtful regular expression is looked for."""
_EVERY: Final = 1000


class TooLongError(Exception):
    """The time for reading was over."""


@dataclass(frozen=True, slots=True)
class Word:
    """``kind``: name, text, template, number, mark. ``value`` of a text: what it says; ``line``: 1-based."""

    kind: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Reading:
    """``doubtful``: it may have taken for a text, a template or a comment what is code."""

    words: list[Word]
    doubtful: bool


def read(text: str, until: float = math.inf) -> Reading:
    """All words in their order. ``until``: a time of ``time.monotonic()``; raises TooLongError behind it."""
    reader = _Reader(text)
    steps = 0
    while reader.at < len(text):
        _in_time(steps, until)
        steps += 1
        reader.step()
    doubtful = reader.doubtful or bool(reader.open_templates) or _between_tags(text)
    return Reading(reader.out, doubtful)


def bare_words(text: str, until: float = math.inf) -> list[Word]:
    """The words of a doubtful text: only what cannot hold a call is a text, a template or a comment.

    Of any other text and comment the words are told as if they were code; a lone quote is an empty text.
    """
    out: list[Word] = []
    line = 1
    for step, match in enumerate(_BARE.finditer(text)):
        _in_time(step, until)
        kind, value = match.lastgroup or "mark", match[0]
        if kind in ("text", "template"):
            out.append(Word(kind, _plain(value[1:-1]), line))
        elif kind == "mark" and value in "`'\"":
            out.append(Word("template" if value == "`" else "text", "", line))
        elif kind not in ("space", "comment"):
            out.append(Word(kind, _plain(value), line))
        line += value.count("\n")
    return out


def _in_time(step: int, until: float) -> None:
    if step % _EVERY == 0 and time.monotonic() > until:
        raise TooLongError


class _Reader:
    """One way through a text, word by word."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.out: list[Word] = []
        self.at, self.line, self.depth = 0, 1, 0
        self.open_templates: list[int] = []
        self.doubtful, self.broken = False, False
        self.unclosed = {"'": 0, '"': 0, "/": 0}
        """Up to where it is known that no text, or regular expression, that begins there ends."""

    def step(self) -> None:
        """Read one word, or what stands between words."""
        text, at = self.text, self.at
        if text[at] in "#<-" and self._old_comment():
            return
        match = _WORD.match(text, at)
        if match is None:  # not reached: a mark is any character
            self.at += 1
            return
        kind, value = match.lastgroup or "mark", match[0]
        if kind in ("space", "comment", "line"):
            self.doubtful |= kind == "comment" and value.startswith("/*") and not value[2:].endswith("*/")
            self.broken = self.broken or _BREAK.search(value) is not None
            self._pass(match.end())
        elif value in self.unclosed and (self._pattern() if value == "/" else self._quoted(value)):
            return
        elif value == "`" or (value == "}" and self.open_templates[-1:] == [self.depth]):
            self._template(value == "}")
        else:
            if value in ("{", "}"):
                self.depth += 1 if value == "{" else -1
            self._keep(kind, value, match.end())

    def _pass(self, end: int) -> None:
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def _keep(self, kind: str, value: str, end: int) -> None:
        self.out.append(Word(kind, _plain(value), self.line))
        self._pass(end)
        self.broken = False

    def _old_comment(self) -> bool:
        """``#!`` of a program, and the comments of HTML: ``<!--``, and ``-->`` where a line begins."""
        found = _OLD_COMMENT.match(self.text, self.at)
        if found is None or (found[0][0] == "-" and self.out and not self.broken):
            return False
        self.doubtful |= found[0][0] != "#"  # in a module these are no comments
        self._pass(found.end())
        return True

    def _quoted(self, quote: str) -> bool:
        """A text in quotes; none that begins inside of an unclosed one is closed, as the escapes agree."""
        if self.at < self.unclosed[quote]:
            return False
        inside = _INSIDE[quote].match(self.text, self.at + 1)
        end = inside.end() if inside else self.at + 1
        if self.text.startswith(quote, end):
            self._keep("text", self.text[self.at + 1 : end], end + 1)
            return True
        self.unclosed[quote] = end
        self.doubtful = True
        return False

    def _template(self, goes_on: bool) -> None:
        """The template's text from here to its end or to the next ``${``."""
        if goes_on:
            self.open_templates.pop()
            self.depth -= 1
        said = _TEMPLATE.match(self.text, self.at + 1)
        end = said.end() if said else self.at + 1
        opens = self.text.startswith("${", end)
        self.doubtful |= end >= len(self.text)
        self._keep("template", self.text[self.at + 1 : end], end + (2 if opens else 1))
        if opens:
            self.depth += 1
            self.open_templates.append(self.depth)

    def _pattern(self) -> bool:
        """A regular expression, where one can stand; a value, whatever it is."""
        text, at = self.text, self.at
        if not self._may_be_pattern():
            return False
        if not self._is_pattern():
            self.doubtful = self.doubtful or self._would_hide(_PATTERN.match(text, at, at + _NEAR))
            return False
        known = at < self.unclosed["/"]
        found = _PATTERN.match(text, at, at + _NEAR) if known else _PATTERN.match(text, at)
        if found is None:
            if not known:
                end = _BREAK.search(text, at)
                self.unclosed["/"] = end.end() if end else len(text)
            self.doubtful = True
            return False
        self.doubtful = self.doubtful or not (self._is_surely_pattern() or not self._would_hide(found))
        self._keep("number", "", found.end())
        return True

    def _would_hide(self, found: re.Match[str] | None) -> bool:
        """Do the two readings of a stroke differ in more than one word? Here, or further than we look."""
        if found is not None:
            return _HIDES.search(self.text, self.at + 1, found.end() + 1) is not None
        far = self.at + _NEAR
        return far < len(self.text) and _BREAK.search(self.text, self.at, far) is None

    def _may_be_pattern(self) -> bool:
        """Behind a value on the same line a stroke divides."""
        if not self.out:
            return True
        last = self.out[-1]
        if last.kind in ("text", "template", "number"):
            return self.broken  # the type ahead of it ends there
        if last.value == "<" and self.text[self.at - 1] == "<" and _CLOSED.match(self.text, self.at):
            return False  # </tag>
        return last.kind == "mark" or self.broken or last.value in _AHEAD_OF_PATTERN

    def _is_pattern(self) -> bool:
        """What it is more likely to be."""
        if not self.out:
            return True
        last = self.out[-1]
        if last.kind == "name":
            return last.value in _AHEAD_OF_PATTERN
        return last.kind == "mark" and last.value not in (")", "]", "}")

    def _is_surely_pattern(self) -> bool:
        before = [word.value if word.kind in ("mark", "name") else "" for word in self.out[-2:]]
        if before and before[-1] in _RESERVED:
            return before[0] not in (".", "?.")
        if before[-1:] == ["!"]:  # behind a value it is TypeScript's, and a stroke divides
            before.pop()
        return not before or before[-1] in _SURELY_AHEAD


def _between_tags(text: str) -> bool:
    """Is there, between the tags of JSX, what would begin a text, a template or a comment elsewhere?"""
    if not _MARKUP.search(text):
        return False
    for found in _BETWEEN.finditer(text):
        opens, said, closes = found[1], found[2], found[3]
        if opens == "=>" or not any(sign in said for sign in ("`", "'", '"', "//", "/*")):
            continue
        if opens == ">" or closes == "<" or "`" in said or said.count("/*") != said.count("*/"):
            return True
        if said.count("'") % 2 or said.count('"') % 2 or ("//" in said and "\n" not in said):
            return True
    return False


def _plain(said: str) -> str:
    if "\\" not in said:
        return said
    return _ESCAPE.sub(_character, said)


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2], 16)
    return chr(number) if number < 0x110000 else ""
