"""The change hit a limit of the sandbox that main does not hit: output, number of things done. (What uses up
memory, processes or disk is `resource-exhaustion`, time is `timeout`.)

It may be a bug, a bomb, or a flood meant to push the interesting events out of the record. What came
after was not seen.

Bound what the code uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import behaviour_finding, new, rule
from gate.signals.rules.resource_exhaustion import EXHAUSTED


@rule(
    "resource-limit",
    "Limit of the sandbox is hit",
    severity="medium",
    confidence="medium",
    topic="resource",
    cwe=(400, 770),
    attack=("T1499",),
    why="Exhausted memory, disks or logs stop machines and hide other things.",
    fix="Bound what the code uses.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each limit of the record itself."""
    for behaviour in new(context, BehaviourKind.LIMIT):
        if behaviour.subject not in ("wall-time", *EXHAUSTED):
            yield behaviour_finding(
                check.meta, context, behaviour, "Hit a limit of the sandbox that main does not hit."
            )
