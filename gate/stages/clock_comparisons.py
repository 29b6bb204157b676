"""Which changed files newly compare a clock, or look for what moves one: a reason to run them at other times.

Told from the text alone and generously: it is no finding, and costs a second look at most. Python that does
something dangerous at a date is a finding of its own (py.dated-action).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.model.change import Change, ChangedFile, Tree
from gate.regex import regex

_MOST: Final = 1 << 20
_FILE_TIMES: Final = regex(
    r"\bstat\b[^\n;|]{0,80}%[WXYZwxyz]|\s-newer[aBcm]t\b|\s-(?:nt|ot)\s|get[cm]time|st_[cm]time|\b[cm]timeMs\b"
)
_CLOCK: Final = regex(
    r"\bdate\b[^\n;|]{0,80}\+|\bEPOCH(?:SECONDS|REALTIME)\b|%\([^)\n]{0,40}\)T|/proc/uptime|\bhwclock\b"
    r"|\b(?:datetime|date)\.(?:now|utcnow|today)\b|\btime\.(?:time|time_ns|localtime|gmtime|strftime)\b"
    r"|\bDate\.now\b|\bnew Date\b"
)
_MOVED: Final = regex(
    r"\bLD_PRELOAD\b|faketime|\benv\s{1,9}(?:-i|--ignore-environment)\b[^\n;|]{0,80}\bdate\b", re.IGNORECASE
)
_DAY: Final = regex(
    r"\b(?:date|datetime|UTC)\(\s{0,9}[\"']?20\d\d|[\"']20\d\d-?[01]\d|\b(?:1_?[6-9]|2_?\d)(?:_?\d){8}(?:(?:_?\d){3})?\b"
    r"|\byear\b|getFullYear",
    re.IGNORECASE,
)
_CONDITION: Final = regex(
    r"\b(?:if|elif|unless|case|test|while|until|assert)\b|\[\s|\(\(|&&|\|\||\?|[<>]=?|[!=]="
)
_NUMBERS: Final = regex(r"\s-(?:gt|lt|ge|le|eq|ne)\s|\(\(|[<>]=?\s?(?:\d|date)")
_ITSELF: Final = regex(r"\s-newer[aBcm]t\b|\s-(?:nt|ot)\s")
_WITH_A_DAY: Final = frozenset({"python", "javascript", "typescript"})
"""Languages in which asking for the time is everyday: only beside a day that is written down."""


def compares_clock(change: Change, head: Tree) -> dict[str, bool]:
    """Paths of changed files that newly compare a clock, and whether it is (also) that of file times."""
    wanted = {f.path: f for f in change.files if f.new_blob and not f.binary and 0 < f.size <= _MOST}
    found: dict[str, bool] = {}
    for path, data in head.read_many(tuple(wanted)):
        text = data.decode("utf-8", "replace")
        if _compares(wanted[path], text, "\n".join(_added(wanted[path], text))):
            found[path] = _FILE_TIMES.search(text) is not None
    return found


def _compares(file: ChangedFile, text: str, added: str) -> bool:
    if _MOVED.search(added) or _ITSELF.search(added):
        return True
    asks = _CLOCK.search(text) or _FILE_TIMES.search(text)
    if not asks or not _CONDITION.search(text):
        return False
    if file.language in _WITH_A_DAY and not _DAY.search(text):
        return False
    return any(part.search(added) for part in (_CLOCK, _FILE_TIMES, _NUMBERS))


def _added(file: ChangedFile, text: str) -> Iterator[str]:
    """The lines that the change wrote."""
    lines = text.split("\n")
    for hunk in file.hunks:
        yield from lines[hunk.new_start - 1 : hunk.new_start - 1 + hunk.new_count]
