"""A cryptocurrency miner is started: its name, or a mining pool's address, on a command line.

Build machines are favourite targets: fast, unwatched, paid by somebody else.

Remove it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.kit import HIGH, SURE, BehaviourRule, about, found, new
from gate.signals.programs import MINES, says

META: Final = about(
    "crypto-miner",
    "Cryptocurrency miner is started",
    HIGH,
    SURE,
    "exec",
    why="Mining on other people's machines is theft of computing time, and a sign of a compromised change.",
    fix="Remove it.",
    cwe=(506, 400),
    attack=("T1496",),
)


def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each command line."""
    for behaviour in new(context, BehaviourKind.EXEC):
        if says(behaviour.detail.get("argv", "")) == MINES:
            yield found(META, context, behaviour, "Starts a cryptocurrency miner.")


RULE: Final = BehaviourRule(META, check)
