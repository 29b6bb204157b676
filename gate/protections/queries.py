"""Which columns a query in SQL binds to a given value: what is asked of every row it reads or changes. Pure.

A small reader of conditions, not of SQL: words, texts, marks, brackets, AND and OR. Where it is unsure it
names no column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

_ENDS: Final = frozenset({
    "group", "order", "limit", "returning", "having", "union", "for", "offset", "window", "except", ";",
    "intersect", "on",
})  # fmt: skip
_GIVEN: Final = ("?", "$", ":", "@", "%")
_PATTERNS: Final = frozenset({"like", "ilike", "glob", "regexp", "rlike", "similar", "match", "~"})
_LONGEST: Final = 20_000
GAP: Final = "{}"
"""Stands for a value that the program puts into a text."""


def bound_columns(text: str) -> frozenset[str]:
    """Columns that a row must match with a value from outside, in all ways of every WHERE."""
    if len(text) > _LONGEST or "where" not in text.lower():
        return frozenset()
    tokens = [*tokens_of(text)]
    found: frozenset[str] = frozenset()
    for at, word in enumerate(tokens):
        if word.lower() == "where":
            found |= bound_in([*_condition(tokens[at + 1 :])])
    return found


def patterned_columns(text: str) -> frozenset[str]:
    """Columns that are laid beside a given value as a pattern, whose ``%`` nobody escapes."""
    if len(text) > _LONGEST or "where" not in text.lower():
        return frozenset()
    tokens = [*tokens_of(text)]
    found: set[str] = set()
    for at, word in enumerate(tokens):
        if word.lower() not in _PATTERNS or not at:
            continue
        named = [one for one in tokens[:at] if one.lower() not in ("not", ")", "*")][-1:]
        value = split_at(split_at([*_condition(tokens[at + 1 :])], "and")[0], "or")[0]
        if named and "escape" not in map(str.lower, value) and any(v.startswith(_GIVEN) for v in value):
            found.add(_column(named[0]))
    return frozenset(found)


def _column(word: str) -> str:
    return word.rpartition(".")[2].strip('`"[]').lower()


def _condition(tokens: Sequence[str]) -> Iterator[str]:
    deep = 0
    for mark in tokens:
        deep += (mark == "(") - (mark == ")")
        if deep < 0 or (deep == 0 and mark.lower() in _ENDS):
            return
        yield mark


def bound_in(tokens: list[str]) -> frozenset[str]:
    """Columns that a condition binds to a given value, whichever way it comes true."""
    while len(tokens) > 1 and tokens[0] == "(" and _closes(tokens) == len(tokens) - 1:
        tokens = tokens[1:-1]
    ways = split_at(tokens, "or")
    if len(ways) > 1:
        return frozenset.intersection(*(bound_in(way) for way in ways))
    parts = split_at(tokens, "and")
    if len(parts) > 1:
        return frozenset().union(*(bound_in(part) for part in parts))
    if len(tokens) < 3 or tokens[1].lower() not in ("=", "in", "=="):
        return frozenset()
    left, value = tokens[0], tokens[2]
    if left.startswith(_GIVEN) and not value.startswith(_GIVEN):
        left, value = value, left
    given = value.startswith(_GIVEN) or value == "(" or value.lower() == "any"
    return frozenset({_column(left)}) if given else frozenset()


def _closes(tokens: Sequence[str]) -> int:
    deep = 0
    for at, mark in enumerate(tokens):
        deep += (mark == "(") - (mark == ")")
        if deep == 0:
            return at
    return -1


def split_at(tokens: list[str], word: str) -> list[list[str]]:
    """The parts between this word, outside of brackets."""
    parts: list[list[str]] = [[]]
    deep = 0
    for mark in tokens:
        deep += (mark == "(") - (mark == ")")
        if deep == 0 and mark.lower() == word:
            parts.append([])
        else:
            parts[-1].append(mark)
    return parts


def tokens_of(text: str) -> Iterator[str]:
    """Words with their dots and marks, texts in quotes as ``?``, and every other character by itself."""
    at = 0
    while at < len(text):
        c = text[at]
        if c.isspace():
            at += 1
        elif c == "'":
            end = text.find("'", at + 1)
            yield "'"
            at = end + 1 if end > 0 else len(text)
        elif text[at : at + 2] in ("%(", "${", "#{") or c == "{":
            end = text.find(")" if text[at + 1] == "(" else "}", at) if at + 1 < len(text) else -1
            yield "?"
            at = end + 1 if end > 0 else len(text)
        elif _is_word(c):
            end = at + 1
            while end < len(text) and _is_word(text[end]):
                end += 1
            yield text[at:end]
            at = end
        else:
            yield c
            at += 1


def _is_word(c: str) -> bool:
    return c.isalnum() or c in '_.$:@%?`"#'
