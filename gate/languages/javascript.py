"""The words of a JavaScript or TypeScript text: no comments, texts kept as texts, templates walked through.

The grammar says what is a regular expression, a template or what stands between JSX tags. Where it finds an
error, what it took for a text or a comment may be code: the reading says so (``Reading.doubtful``), and
``bare_words`` reads the text once more in a way that hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import tree_sitter

from gate.dataclass import dataclass
from gate.languages.tree_sitter_parse import parse, walk
from gate.regex import regex

_NAME: Final = r"""\#?(?:[A-Za-z_$\u0080-\ufefe\uff00-\uffff] | \\u[0-9a-fA-F]{4} | \\u\{[0-9a-fA-F]{1,6}\})
              (?:[\w$]|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\})*+"""
_END: Final = r"\n\r\u2028\u2029"
"""What ends a line, and with it a comment, in JavaScript; lines are counted by \\n, as git does."""
_BARE: Final = regex(
    rf"""
      (?P<space>(?:\s|\ufeff)++)
    | (?P<comment>//[^()`'"={_END}]{{0,200}}+(?=[{_END}]|\Z) | /\*[^()`'"=*]{{0,200}}+\*/)
    | (?P<text>"[\w@:./~\\-]{{0,120}}+" | '[\w@:./~\\-]{{0,120}}+') | (?P<template>`[\w@:./~\\-]{{0,120}}+`)
    | (?P<name>{_NAME})
    | (?P<number>\d[\w.]*+) | (?P<mark>=>|\?\.(?!\d)|\.\.\.|[=!<>]=+|&&|\|\||\?\?|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = regex(r"\\u\{?([0-9a-fA-F]{1,6})\}?|\\x([0-9a-fA-F]{2})")
_UNSURE: Final = regex(rf"<!--|(?:^|[{_END}]|\*/)\s*-->|(?:^\#!|//)[^{_END}]*[\r\u2028\u2029](?!\n|\Z)")
"""Comments of HTML, which are none in a module, and line ends that the grammars do not know as such."""
_IS_NAME: Final = regex(_NAME, re.VERBOSE)
_SILENT: Final = frozenset(("comment", "html_comment", "hash_bang_line", "jsx_text"))
_WHOLE: Final = _SILENT | {"string", "regex", "number"}
_TEMPLATES: Final = ("template_string", "template_literal_type")
_INSERTED: Final = ("template_substitution", "template_type")
_OF_TEMPLATES: Final = frozenset(("`", "${", "string_fragment", "escape_sequence", "template_chars"))


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


def grammar_of(path: str) -> str:
    """By the ending: what is a cast in TypeScript is a tag in TSX, and may hide what follows."""
    if path.endswith(".tsx"):
        return "tsx"
    return "typescript" if path.endswith((".ts", ".mts", ".cts")) else "javascript"


def read(text: str, path: str = "") -> Reading:
    """All words in their order. To be called in the limited child."""
    source = text.encode("utf-8", "replace")
    root = parse(source, grammar_of(path))
    return Reading(list(_words(root, source)), root.has_error or _UNSURE.search(text) is not None)


def _words(root: tree_sitter.Node, source: bytes) -> Iterator[Word]:
    goes_on: dict[int, int] = {}  # templates: where one goes on behind what is inserted, and up to where
    for node in walk(root, _WHOLE):
        kind, start, end = node.type, node.start_byte, node.end_byte
        line = node.start_point.row + 1
        if kind in _TEMPLATES:
            inserted = [child for child in node.children if child.type in _INSERTED]
            stops = [*(child.start_byte for child in inserted), max(start + 1, end - 1)]
            goes_on.update(zip((child.end_byte for child in inserted), stops[1:], strict=True))
            yield Word("template", _plain(_decoded(source[start + 1 : stops[0]])), line)
        elif kind == "string":
            yield Word("text", _plain(_decoded(source[start + 1 : max(start + 1, end - 1)])), line)
        elif kind == "regex":
            yield Word("number", "", line)
        elif kind == "}" and end in goes_on:
            yield Word("template", _plain(_decoded(source[end : goes_on.pop(end)])), line)
        elif not node.child_count and start < end and kind not in _SILENT and kind not in _OF_TEMPLATES:
            yield _word(_decoded(source[start:end]), line)


def _word(said: str, line: int) -> Word:
    if _IS_NAME.fullmatch(said):
        return Word("name", _plain(said), line)
    return Word("number" if said[0].isdigit() else "mark", said, line)


def _decoded(source: bytes) -> str:
    return source.decode("utf-8", "replace")


def bare_words(text: str) -> list[Word]:
    """The words of a doubtful text: only what cannot hold a call is a text, a template or a comment.

    Of any other text and comment the words are told as if they were code; a lone quote is an empty text.
    """
    out: list[Word] = []
    line = 1
    for match in _BARE.finditer(text):
        kind, value = match.lastgroup or "mark", match[0]
        if kind in ("text", "template"):
            out.append(Word(kind, _plain(value[1:-1]), line))
        elif kind == "mark" and value in "`'\"":
            out.append(Word("template" if value == "`" else "text", "", line))
        elif kind not in ("space", "comment"):
            out.append(Word(kind, _plain(value), line))
        line += value.count("\n")
    return out


def _plain(said: str) -> str:
    if "\\" not in said:
        return said
    return _ESCAPE.sub(_character, said)


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2], 16)
    return chr(number) if number < 0x110000 else ""
