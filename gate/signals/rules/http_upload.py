"""The change sends data to another machine by HTTP: a request with a body, or with a long query.

What is sent stands in the evidence (`head`), as the simulated network received it. Importing or installing
a package sends nothing in an honest one, but for telemetry, which wants asking too.

Find out what is sent and why; let the user's call send it, never the import.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.probing import HOST
from gate.model.rule import Confidence, Severity
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    SENDING,
    SURE,
    UNASKED,
    behaviour_finding,
    new,
    phase_of,
    rule,
)

_QUERY: Final = 200
"""Bytes of a query beyond which it carries data rather than asks."""


@rule(
    "http-upload",
    "Data is sent out by HTTP",
    severity="high",
    confidence="high",
    topic="network",
    cwe=(506, 200, 359),
    attack=("T1041", "T1567"),
    why="A request with a body takes data off the machine.",
    fix="Find out what is sent and why; let the user's call send it, never the import.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each request that carries data."""
    for behaviour in new(context, BehaviourKind.HTTP):
        if behaviour.detail.get("reach", "outside") in ("loopback", "none"):
            continue
        sends = behaviour.detail.get("method") in SENDING and behaviour.detail.get("size")
        query = behaviour.detail.get("path", "").partition("?")[2]
        if not sends and len(query) < _QUERY:
            continue
        severity, sure = _weight(context, behaviour)
        message = (
            "Sends data to another machine in an HTTP request."
            if sends
            else "Sends data to another machine in a long query."
        )
        yield behaviour_finding(check.meta, context, behaviour, message, severity=severity, confidence=sure)


def _weight(context: SignalContext, behaviour: Behaviour) -> tuple[Severity, Confidence]:
    host, phase = behaviour.detail.get("host", ""), phase_of(context, behaviour)
    if host == HOST or host.endswith("." + HOST):
        return LOW, LIKELY  # where our own probe told it to go
    bare = not host or host.replace(".", "").isdigit() or ":" in host
    if phase in UNASKED or bare:
        return HIGH, SURE if phase in UNASKED else LIKELY
    return (HIGH, LIKELY) if phase == "script" else (MEDIUM, LIKELY)
