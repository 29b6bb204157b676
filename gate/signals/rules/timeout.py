"""The change did not end in its time, main does.

An endless loop, or a wait that is to outlast the look. What would have come after was not seen. An import or
an installation that never ends weighs most; a slow test least.

Bound loops and waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, LOW, MEDIUM, behaviour_finding, new, phase_of, rule

_SEVERITY: Final = {"test": LOW, "call": MEDIUM}


@rule(
    "timeout",
    "Did not end in time",
    severity="high",
    confidence="medium",
    topic="resource",
    cwe=(835, 400),
    attack=("T1497.003",),
    why="Code that waits longer than anybody looks can do its work afterwards.",
    fix="Bound loops and waits.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding; what nobody can wait for says more than what is only slow."""
    for behaviour in new(context, BehaviourKind.LIMIT):
        if behaviour.subject == "wall-time":
            severity = _SEVERITY.get(phase_of(context, behaviour), HIGH)
            yield behaviour_finding(
                check.meta, context, behaviour, "Did not end in its time, which main does.", severity=severity
            )
