"""Commands that turn text round or swap its letters: what they give to a shell could not be read before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.regex import regex

MAY_UNPACK: Final = regex(r"\brev\b|\bgunzip\s+-c|\btr\s")
"""What is worth a closer look."""
_GUNZIP: Final = regex(r"\bgunzip\s+-c")
_REV: Final = regex(r"(?:^|[|;&({\"'\[])\s{0,8}(?:sudo\s+)?rev(?:(?=\s{0,8}(?:$|[|<)\"']))|\s+(?![-=:]))")
_SET: Final = r"(\\?\"[^\"]{1,300}\"|'[^']{1,300}'|[^\s|;&\"']{1,300})"
_TR: Final = regex(rf"\btr\s{{1,4}}(?:-\w{{1,20}}\s{{1,4}}){{0,3}}{_SET}\s{{1,4}}{_SET}")
_CLASS: Final = regex(r"\[[:=][\w]{1,20}[:=]\]")
_FEW: Final = 3
"""Letters that others stand for, from which on a text is said to be hidden; separators are no letters."""


def unpacks(part: str) -> int:
    r"""Of one command of a pipe: 2 ``gunzip -c``, ``tr`` with another alphabet; 1 ``rev``; 0 nothing.

    ``tr a-z A-Z`` and ``tr '\n' '\0'`` are nothing. Twice ``rev`` is as it was: how people take a last field.
    """
    if MAY_UNPACK.search(part) is None:
        return 0
    if _GUNZIP.search(part) or any(_other_letters(match[1], match[2]) for match in _TR.finditer(part)):
        return 2
    return 1 if _REV.search(part) else 0


def _other_letters(first: str, second: str) -> bool:
    known, given = list(_letters(first)), list(_letters(second))
    swapped = {
        (a.lower(), b.lower())
        for a, b in zip(known, given, strict=False)
        if b.isascii() and b.isalpha() and a.lower() != b.lower()
    }
    return len({b for _, b in swapped}) >= _FEW


def _letters(words: str) -> Iterator[str]:
    """The characters of a set of ``tr``, ranges written out."""
    text = _CLASS.sub("", words.strip("\\\"'"))
    skip = 0
    for at, char in enumerate(text):
        if skip:
            skip -= 1
        elif text[at + 1 : at + 2] == "-" and char < text[at + 2 : at + 3]:
            yield from map(chr, range(ord(char), min(ord(text[at + 2]), ord(char) + 128) + 1))
            skip = 2
        else:
            yield char
