"""The signals room's contract: a rule turns new behaviour into findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from gate.model.behaviour import BehaviourDiff
from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.rule import RuleMeta
from gate.model.run import RunRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalContext:
    """What a behaviour rule may look at. ``diff.new`` is what head does and base does not."""

    change: Change
    diff: BehaviourDiff
    runs: tuple[RunRecord, ...]


class SignalRule(Protocol):
    """One file in gate/signals/rules; last line ``RULE: Final = ...``."""

    META: RuleMeta

    def check(self, context: SignalContext) -> Iterable[Finding]:
        """Findings for this rule; the primary location is the changed file whose probe showed it."""
        ...
