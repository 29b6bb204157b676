"""One stage of the look, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from gate.dataclass import dataclass


class StageOutcome(Enum):
    """``skipped`` is a decision (nothing to do, switched off); the last two are "could not look"."""

    DONE = "done"
    SKIPPED = "skipped"
    DEGRADED = "degraded"
    FAILED = "failed"


class SkipReason(Enum):
    """Why a stage of the check was skipped: what decisions read, where ``Stage.reason`` is for people."""

    SWITCHED_OFF = "switched-off"
    NO_COMMITS = "no-commits"
    NO_CHANGED_FILES = "no-changed-files"
    NOTHING_TO_RUN = "nothing-to-run"
    BACKEND_FAILED = "backend-failed"
    NO_TRACER = "no-tracer"
    NO_SIMULATED_NETWORK = "no-simulated-network"
    FAST_LOOK = "fast-look"
    NO_OPINION = "no-opinion"

    def text(self, *details: str) -> str:
        """The reason in words. ``details`` fill its gaps, in order: who switched it off, which backend."""
        return _TEXTS[self].format(*details)


_TEXTS = {
    SkipReason.SWITCHED_OFF: "switched off by {}",
    SkipReason.NO_COMMITS: "no commits in the range",
    SkipReason.NO_CHANGED_FILES: "no changed files",
    SkipReason.NOTHING_TO_RUN: "nothing in the change can be run",
    SkipReason.BACKEND_FAILED: "{} did not stand: {}",
    SkipReason.NO_TRACER: "{} has no tracer: files are not compared with calls",
    SkipReason.NO_SIMULATED_NETWORK: (
        "{} has no simulated network: connections fail, second stages are not seen"
    ),
    SkipReason.NO_OPINION: "no opinion of a language model, and none is needed: {}",
    SkipReason.FAST_LOOK: "a fast look only imports; left to the full look: {}",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """``name`` such as ``prescreen`` or ``prescreen:bandit``. ``reason`` is for people and is
    required unless the stage is done. ``seconds`` is wall time. ``skip_reason`` is why a stage of the
    check was skipped; None for a part of a stage, and in reports of older versions.
    """

    name: str
    outcome: StageOutcome
    reason: str = ""
    seconds: float = 0.0
    skip_reason: SkipReason | None = None

    def __post_init__(self) -> None:
        if self.outcome is not StageOutcome.DONE and not self.reason:
            raise ValueError(f"stage {self.name} is {self.outcome.value} without a reason")
        if self.skip_reason is not None and self.outcome is not StageOutcome.SKIPPED:
            raise ValueError(f"stage {self.name} is {self.outcome.value} and has a reason to be skipped")

    @property
    def looked(self) -> bool:
        """False when the stage could not look, so that the verdict may not be green."""
        return self.outcome in (StageOutcome.DONE, StageOutcome.SKIPPED)


def incomplete_stages(stages: Iterable[Stage]) -> list[Stage]:
    """Stages that failed or looked only in part; every reporter must show them with their reasons."""
    return sorted(
        (s for s in stages if not s.looked), key=lambda s: (s.outcome is not StageOutcome.FAILED, s.name)
    )
