"""Schemas of GraphQL (SDL): which fields ask who the caller is, and for which role.

The words of the file are taken one by one; strings and comments say nothing. No schema is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.infrastructure.facts import FileFacts, Width
from gate.regex import regex

_WORD: Final = regex(
    r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*|(?P<word>@?[A-Za-z_]\w*|[{}()\[\]:!=|&,])'
)
_ASKS: Final = regex(
    r"^@(?:auth\w*|is_?auth\w*|requires?_?(?:auth|role|scope|login|perm)\w*|has_?(?:role|scope|perm)\w*|protected|private"
    r"|can|guard|allow|policy|require[sd]?scopes|aws_\w*auth\w*|aws_cognito\w*|aws_iam|login_?required|internal|hidden)$",
    re.IGNORECASE,
)


def graphql_facts(text: str, path: str) -> FileFacts:
    """A width for each field: how much it asks, and whom it names."""
    return FileFacts.of([*_fields(text, path)], [path])


def _fields(text: str, path: str) -> Iterator[Width]:
    words: list[tuple[str, int]] = []
    line = at = 0
    for match in _WORD.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        if match["word"]:
            words.append((match["word"], line + 1))
    holder, depth, at = "", 0, 0
    while at < len(words):
        word, line = words[at]
        if depth == 0 and word in ("type", "interface", "extend") and at + 1 < len(words):
            holder = words[at + 1][0]
        if word in "{}":
            depth += 1 if word == "{" else -1
        elif depth == 1 and holder and re.match(r"[A-Za-z_]", word):
            end = _end(words, at + 1)
            yield from _asked([one for one, _ in words[at + 1 : end]], f"{path} {holder}.{word}", line)
            at = end
            continue
        if depth == 0 and word == "}":
            holder = ""
        at += 1


def _end(words: list[tuple[str, int]], start: int) -> int:
    """Where the next field begins: a name with its type or arguments behind it, or the end of the block."""
    inside, at = 0, start
    while at < len(words):
        word = words[at][0]
        inside += (word in "([") - (word in ")]")
        if inside == 0 and word == "}":
            return at
        before = words[at - 1][0]
        named = re.match(r"[A-Za-z_]", word) and before not in (":", "@")
        if inside == 0 and named and at + 1 < len(words) and words[at + 1][0] in (":", "("):
            return at
        at += 1
    return at


def _asked(words: list[str], subject: str, line: int) -> Iterator[Width]:
    asks, named, last = 0, list[str](), ""
    inside = 0
    for word in words:
        if word.startswith("@"):
            last = word if _ASKS.match(word) else ""
            asks += bool(last)
        elif last and word == "(":
            inside += 1
            asks += 1
        elif last and word == ")":
            inside, last = 0, ""
        elif last and inside and re.match(r"[A-Z]", word):
            named.append(word)
    text = f"{subject.rpartition(' ')[2]}: {' '.join(words)}"[:120]
    yield Width("weaker", f"{subject} asks", line, text, measure=-float(asks))
    if named:
        yield Width("trusted", f"{subject} roles", line, text, members=named)
