"""The change did not end in its time, main does.

An endless loop, or a wait that is to outlast the look. What would have come after was not seen.

Bound loops and waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.kit import LIKELY, LOW, MEDIUM, BehaviourRule, about, found, new, phase_of

META: Final = about(
    "timeout",
    "Did not end in time",
    MEDIUM,
    LIKELY,
    "resource",
    why="Code that waits longer than anybody looks can do its work afterwards.",
    fix="Bound loops and waits.",
    cwe=(835, 400),
    attack=("T1497.003",),
)


def check(context: SignalContext) -> Iterator[Finding]:
    """One finding; a test that is slow says less than an import that never ends."""
    for behaviour in new(context, BehaviourKind.LIMIT):
        if behaviour.subject == "wall-time":
            severity = LOW if phase_of(context, behaviour) == "test" else MEDIUM
            yield found(
                META, context, behaviour, "Did not end in its time, which main does.", severity=severity
            )


RULE: Final = BehaviourRule(META, check)
