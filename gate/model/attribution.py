"""Who wrote a commit, as far as the commit discloses it."""

from __future__ import annotations

from typing import Literal

from gate.dataclass import dataclass

Strength = Literal["definite", "strong", "weak"]
Role = Literal["author", "assistant", "suggestion", "reviewer", "finder", "bot"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributionEvidence:
    """One match. ``matched`` is the exact text that matched (untrusted, at most 200 characters).

    ``kind`` is the evidence file's name (``trailer``, ``identity``, ``footer``, ``branch``,
    ``note``, ``marker`` ...), ``where`` the place (``Co-authored-by``, ``author.email`` ...).
    """

    kind: str
    where: str
    matched: str
    tool: str
    confidence: Strength
    role: Role = "author"


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributedLines:
    """Lines of the head version of one file that the evidence attributes to a tool."""

    path: str
    lines: tuple[tuple[int, int], ...]
    tool: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitAttribution:
    """What a commit discloses. ``is_ai`` False never means "a person wrote it"."""

    commit: str
    is_ai: bool
    tool: str | None = None
    confidence: Strength | None = None
    evidence: tuple[AttributionEvidence, ...] = ()
    lines: tuple[AttributedLines, ...] = ()
    is_bot: bool = False
