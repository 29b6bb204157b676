"""The self-test's values: what is checked, what a check found, what a backend's examination came to."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.model.run import Capability

Kind = Literal["machine", "wasm", "restricted", "javascript"]
"""What runs inside: a Linux process, Python as WebAssembly, restricted Python, JavaScript."""

CRITERIA: Final[dict[int, str]] = {
    1: "arbitrary commands",
    2: "privilege level",
    3: "external network",
    4: "east-west isolation",
    5: "leak of sensitive information",
    6: "file upload and write-out",
    7: "technology underneath",
}
"""The seven criteria by which code-execution sandboxes of AI services were examined in public
(Ant Group's security lab, see docs/isolation.md)."""


class AttemptOutcome(Enum):
    """Only HELD is a pass."""

    HELD = "held"
    BROKEN = "broken"
    NOT_CLAIMED = "not claimed"
    """The backend says itself that it does not hold this one; what was seen is told."""
    NOT_HERE = "not here"
    """Nothing to test on this machine (no second set of system calls, no AppArmor)."""
    NOT_TRIED = "not tried"
    """It should have been tried and could not be: nobody knows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing that must not be possible. ``group`` names the program that answers it."""

    id: str
    criterion: int
    title: str
    group: str
    kind: Kind = "machine"


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What a check tried, what happened, what it means. Texts come from inside: untrusted."""

    check: Check
    outcome: AttemptOutcome
    tried: str
    happened: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Examination:
    """One backend. ``results`` is empty when it is not available; ``capability.reason`` says why."""

    capability: Capability
    results: tuple[Result, ...] = ()
    seconds: float = 0.0
    sandboxes: int = 0

    @property
    def tested(self) -> bool:
        """Something was really tried, with an answer."""
        return any(result.outcome in (AttemptOutcome.HELD, AttemptOutcome.BROKEN) for result in self.results)

    @property
    def broken(self) -> tuple[Result, ...]:
        """What the backend claims and does not hold."""
        return tuple(result for result in self.results if result.outcome is AttemptOutcome.BROKEN)

    @property
    def not_tried(self) -> tuple[Result, ...]:
        """What nobody can tell."""
        return tuple(result for result in self.results if result.outcome is AttemptOutcome.NOT_TRIED)

    def count(self, outcome: AttemptOutcome, criterion: int | None = None) -> int:
        """How many results are so, of one criterion or of all."""
        return sum(
            1
            for result in self.results
            if result.outcome is outcome and criterion in (None, result.check.criterion)
        )
