"""The change listens for connections that main does not listen for.

On every address at import that is a back door; on this machine's own address it is what test servers
do, and told as information at most.

Listen when somebody asks for it, on the loopback address unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.model.rule import Confidence, Severity
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    SURE,
    UNASKED,
    behaviour_finding,
    new,
    phase_of,
    rule,
)


@rule(
    "listening-socket",
    "New listening socket",
    severity="medium",
    confidence="medium",
    topic="network",
    cwe=(1327, 506),
    attack=("T1571", "T1205"),
    why="A listening socket lets others in.",
    fix="Listen when somebody asks for it, on the loopback address unless told otherwise.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each address; nothing for test servers on the loopback address."""
    for behaviour in new(context, BehaviourKind.LISTEN):
        reach = behaviour.detail.get("reach", "none")
        phase = phase_of(context, behaviour)
        if reach in ("loopback", "unix") and phase == "test":
            continue
        severity, confidence = _weight(reach, unasked=phase in UNASKED, test=phase == "test")
        message = "Listens for connections that main does not listen for."
        yield behaviour_finding(
            check.meta, context, behaviour, message, severity=severity, confidence=confidence
        )


def _weight(reach: str, *, unasked: bool, test: bool) -> tuple[Severity, Confidence]:
    if reach in ("loopback", "unix"):
        return (MEDIUM, LIKELY) if unasked else (LOW, LIKELY)
    if test:
        return LOW, SURE
    return (HIGH, SURE) if unasked else (MEDIUM, SURE)
