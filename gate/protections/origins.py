"""Patterns of origins that may read answers: do they say the whole of a name, and nothing but it? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gate.languages.naming import snake
from gate.protections.facts import Strength
from gate.protections.strengths import kept
from gate.regex import regex

_NAMES: Final = regex(r"origins?_(?:regex(?:es)?|pattern(?:s)?|re)(?:_whitelist)?$")
_MANY: Final = "*+?{"


def is_origins(name: str) -> bool:
    """Does a setting of this name hold patterns of origins?"""
    return _NAMES.search(snake(name)) is not None


def origin_strength(name: str, patterns: Sequence[str], line: int) -> Iterator[Strength]:
    """Whether the patterns end, and whether their dots are dots. Starlette's ends by itself."""
    if not patterns:
        return
    ended = snake(name) == "allow_origin_regex" or all(one.endswith(("$", "\\Z", "\\z")) for one in patterns)
    bare = any(map(has_bare_dot, patterns))
    yield kept("patterns of origins", ended and not bare, f"{name}: {' '.join(patterns)}", line)


def has_bare_dot(pattern: str) -> bool:
    """A dot that stands for any letter where a host's name has a dot; ``.*`` is meant to be wide."""
    at, inside = 0, False
    while at < len(pattern):
        mark = pattern[at]
        if mark == "\\":
            at += 1
        elif mark in "[]":
            inside = mark == "["
        elif mark == "." and not inside and pattern[at + 1 : at + 2] not in [*_MANY]:
            return True
        at += 1
    return False
