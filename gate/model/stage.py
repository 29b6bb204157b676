"""One stage of the look, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class StageOutcome(Enum):
    """``skipped`` is a decision (nothing to do, switched off); the last two are "could not look"."""

    DONE = "done"
    SKIPPED = "skipped"
    DEGRADED = "degraded"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """``name`` such as ``prescreen`` or ``prescreen:bandit``. ``reason`` is for people and is
    required unless the stage is done. ``seconds`` is wall time.
    """

    name: str
    outcome: StageOutcome
    reason: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.outcome is not StageOutcome.DONE and not self.reason:
            raise ValueError(f"stage {self.name} is {self.outcome.value} without a reason")

    @property
    def looked(self) -> bool:
        """False when the stage could not look, so that the verdict may not be green."""
        return self.outcome in (StageOutcome.DONE, StageOutcome.SKIPPED)
