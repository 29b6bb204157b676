"""Here-documents that a script only shows: ``cat <<EOF`` with a usage text is no command."""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex

_OPENS: Final = regex(
    r"[ \t]*cat[ \t]+(?:1?>&2[ \t]+)?<<-?[ \t]*(?P<quote>['\"]?)(?P<word>\w{1,80})(?P=quote)"
    r"[ \t]*(?:1?>&2[ \t]*)?$"
)
_ALIVE: Final = regex(r"['\"`]|\$\(")
_TAKEN: Final = regex(
    r"<<|<\(|>\(|>(?!\s*(?:&[12]|/dev/null))|\|(?!\|)|\b(?:eval|source|alias|hash|enable|coproc|trap)\b|-\w*c\b"
    r"|\bcat\s*\(|\bfunction\s+cat\b|\bPATH=|(?:^|[;&|]\s*)\.\s",
    re.MULTILINE,
)
"""Anything by which a script may run what it shows, or by which ``cat`` may be another program."""


def printed_lines(lines: list[str]) -> frozenset[int]:
    """Indexes of the lines that are such texts; none at all where the rest of the script may run them.

    A quote in a text may be the end of one that began before, so that the text is none: then it counts.
    """
    ends: dict[int, int] = {}
    later: dict[str, int] = {}
    for at in range(len(lines) - 1, -1, -1):
        opened = _OPENS.match(lines[at])
        if opened and opened["word"] in later and not (at and lines[at - 1].rstrip().endswith("\\")):
            ends[at] = later[opened["word"]]
        later[lines[at].strip()] = at
    if not ends:
        return frozenset()
    inside: set[int] = set()
    rest: list[str] = []
    at = 0
    while at < len(lines):
        end = ends.get(at)
        if end is None:
            rest.append(lines[at])
            at += 1
            continue
        if any(_ALIVE.search(line) for line in lines[at + 1 : end]):
            return frozenset()
        inside.update(range(at + 1, end))
        at = end + 1
    return frozenset() if _TAKEN.search("\n".join(rest)) else frozenset(inside)
