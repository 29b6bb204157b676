"""The change hit a limit of the sandbox that main does not hit: memory, output, number of things done.

It may be a bug, a bomb, or a flood meant to push the interesting events out of the record. What came
after was not seen.

Bound what the code uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.kit import LIKELY, MEDIUM, BehaviourRule, about, found, new

META: Final = about(
    "resource-limit",
    "Limit of the sandbox is hit",
    MEDIUM,
    LIKELY,
    "resource",
    why="Exhausted memory, disks or logs stop machines and hide other things.",
    fix="Bound what the code uses.",
    cwe=(400, 770),
    attack=("T1499",),
)


def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each limit but time."""
    for behaviour in new(context, BehaviourKind.LIMIT):
        if behaviour.subject != "wall-time":
            yield found(META, context, behaviour, "Hit a limit of the sandbox that main does not hit.")


RULE: Final = BehaviourRule(META, check)
