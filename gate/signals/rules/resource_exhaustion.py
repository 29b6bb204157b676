"""The change uses up memory, processes or disk where main does not.

It may be a bug; it is also how a machine is stopped, and how the end of a look is brought about. A storm of
processes and a disk filled by an import or an installation are no accident: those block.

Bound what the code uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import CRITICAL, HIGH, MEDIUM, UNASKED, behaviour_finding, new, phase_of, rule

EXHAUSTED: Final = ("memory", "process-storm", "disk")
"""Subjects of limits told here."""
_MESSAGES: Final = {
    "memory": "Uses up the memory of the sandbox, which main does not.",
    "process-storm": "Starts processes without an end, which main does not.",
    "disk": "Fills the disk of the sandbox, which main does not.",
}


@rule(
    "resource-exhaustion",
    "Memory, processes or disk are used up",
    severity="high",
    confidence="medium",
    topic="resource",
    cwe=(400, 770, 405),
    attack=("T1499",),
    why="Code that uses up what there is stops machines, and keeps what comes after from being seen.",
    fix="Bound what the code uses.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each of them."""
    for behaviour in new(context, BehaviourKind.LIMIT):
        if behaviour.subject in EXHAUSTED:
            severity = _severity(context, behaviour)
            yield behaviour_finding(
                check.meta, context, behaviour, _MESSAGES[behaviour.subject], severity=severity
            )


def _severity(context: SignalContext, behaviour: Behaviour) -> Severity:
    phase = phase_of(context, behaviour)
    if behaviour.subject == "process-storm" or (behaviour.subject == "disk" and phase in UNASKED):
        return CRITICAL
    # A test that needs much memory is ordinary; what it did not come to is told as not run.
    return MEDIUM if behaviour.subject == "memory" and phase == "test" else HIGH
