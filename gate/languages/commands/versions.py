"""Command texts without the versions in them: another release of the same tool is the same command."""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex

_NUMBERED: Final = regex(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
"""An address that is written in numbers is no version."""
_VERSION: Final = regex(
    r"(?<![\w.])v?\d+(?:\.\d+)+[\w.+-]*|(?<![\w.])v\d+(?![\w.])|\b(?=[a-f]*\d)[0-9a-f]{7,128}\b",
    re.IGNORECASE,
)
_ADDRESS: Final = regex(r"\b\w[\w.+]*://[^\s\"'`<>|;,)]+", re.IGNORECASE)
_MARK: Final = "#"


def without_versions(text: str, *, in_addresses: bool = False) -> str:
    """The text with one sign for every version number and checksum. ``in_addresses``: of URLs as well, which
    otherwise stay as they are: another path may be another program.
    """
    if _NUMBERED.search(text):
        return text
    if in_addresses:
        return _VERSION.sub(_MARK, text)
    parts, at = [], 0
    for address in _ADDRESS.finditer(text):
        parts += [_VERSION.sub(_MARK, text[at : address.start()]), address[0]]
        at = address.end()
    return "".join([*parts, _VERSION.sub(_MARK, text[at:])])


def same_but_versions(old: str, new: str) -> bool:
    """Do two texts differ in version numbers and checksums alone?"""
    return without_versions(old, in_addresses=True) == without_versions(new, in_addresses=True)


def added_lines(old: str, new: str) -> list[str]:
    """Lines of a command text that base has not, even at another version; comments left out."""
    had = {without_versions(line.strip(), in_addresses=True) for line in old.splitlines()}
    lines = (line.strip() for line in new.splitlines())
    return [
        line
        for line in lines
        if line
        and not line.startswith("#")
        and (_NUMBERED.search(line) or without_versions(line, in_addresses=True) not in had)
    ]
