"""Splits a commit message into the lines that speak for the commit."""

from __future__ import annotations

from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex

_FENCE: Final = regex(r"\s{0,3}(?:```|~~~)")
_LINE_MOST: Final = 1000
_LINES_MOST: Final = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """``lines`` are the lines that count: nothing quoted with ``>``, nothing inside code fences."""

    subject: str
    lines: tuple[str, ...]
    revert: bool


def read_message(text: str) -> Message:
    """The message's own lines. Lines beyond 1,000 characters are cut, messages beyond 20,000 lines too."""
    raw = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:_LINES_MOST]
    kept: list[str] = []
    fenced: list[str] | None = None
    for line in (full[:_LINE_MOST] for full in raw):
        if _FENCE.match(line):
            fenced = [] if fenced is None else None
        elif fenced is not None:
            fenced.append(line)
        elif not line.lstrip().startswith(">"):
            kept.append(line)
    if fenced:
        # A fence that never closes quotes nothing: what follows it is the author's.
        kept += [line for line in fenced if not line.lstrip().startswith(">")]
    subject = next((line.strip() for line in raw if line.strip()), "")[:_LINE_MOST]
    return Message(
        subject=subject,
        lines=tuple(kept),
        revert=subject.lower().startswith(("revert ", 'revert"', "revert:", "reapply ")),
    )
