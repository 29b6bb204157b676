"""A cryptocurrency miner is started: its name, or a mining pool's address, on a command line.

Build machines are favourite targets: fast, unwatched, paid by somebody else.

Remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.programs import MINES, command_risk
from gate.signals.rule_kit import behaviour_finding, new, rule


@rule(
    "crypto-miner",
    "Cryptocurrency miner is started",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(506, 400),
    attack=("T1496",),
    why="Mining on other people's machines is theft of computing time, and a sign of a compromised change.",
    fix="Remove it.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each command line."""
    for behaviour in new(context, BehaviourKind.EXEC):
        if command_risk(behaviour.detail.get("argv", "")) == MINES:
            yield behaviour_finding(check.meta, context, behaviour, "Starts a cryptocurrency miner.")
