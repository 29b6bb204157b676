"""A few lines of a head file around a place that a finding points to."""

from __future__ import annotations

from gate.dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Lines of one file in their order; ``first`` is the number of the first (1-based). Text is untrusted."""

    path: str
    first: int
    lines: tuple[str, ...]
