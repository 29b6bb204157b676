"""The score and the verdict, as values."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from gate.dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Contribution:
    """Points that one rule added, and why in words. Points sum to the score (rounded)."""

    rule_id: str
    points: float
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """0 = no risk seen, 100 = certain harm."""

    value: int
    contributions: tuple[Contribution, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 100:
            raise ValueError(f"score out of range: {self.value}")


Unrun = Literal["warn", "fail", "pass"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Thresholds:
    """Scores from which the verdict is warn, and fail. ``unrun``: the least verdict of a change whose code
    did not run and can do harm, or cannot be read.
    """

    warn: int = 30
    fail: int = 70
    unrun: Unrun = "warn"

    def __post_init__(self) -> None:
        if not 0 < self.warn <= self.fail <= 100:
            raise ValueError(f"thresholds must be 0 < warn <= fail <= 100: {self.warn}, {self.fail}")


class Verdict(Enum):
    """What the check says. The exit code follows from it alone (gate/errors.py)."""

    PASS = "pass"  # noqa: S105  # a verdict, not a password
    WARN = "warn"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"

    @property
    def rank(self) -> int:
        """0 for the best, 3 for the worst: what could not look is worse than a warning."""
        return list(Verdict).index(self)
