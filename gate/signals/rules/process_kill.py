"""The change signals processes that are not its own: all of them, its group, strangers.

Ending one's own children is ordinary and not reported.

Signal only processes that the code started, by their pid.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, LOW, MEDIUM, SURE, behaviour_finding, new, phase_of, rule


@rule(
    "process-kill",
    "Processes of others are signalled",
    severity="medium",
    confidence="medium",
    topic="process",
    cwe=(506,),
    attack=("T1489", "T1562.001"),
    why="Killing other processes stops services and guards.",
    fix="Signal only processes that the code started, by their pid.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each signal and kind of target."""
    for behaviour in new(context, BehaviourKind.SIGNAL):
        target = behaviour.detail.get("target", "")
        if target == "all":
            yield behaviour_finding(
                check.meta, context, behaviour, "Signals every process.", severity=HIGH, confidence=SURE
            )
        elif target in ("parent", "group") or phase_of(context, behaviour) == "test":
            yield behaviour_finding(
                check.meta, context, behaviour, "Signals its parent or its group.", severity=LOW
            )
        else:
            yield behaviour_finding(
                check.meta, context, behaviour, "Signals a process that is not its own.", severity=MEDIUM
            )
