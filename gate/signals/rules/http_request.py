"""The change makes an HTTP request that main does not make, over a connection that is not new by itself.

Where main already talks to that host or through that proxy, no new connection is told; the request is what
is new. Where main asks for the same place each time that it runs and the change for another one of the same
shape (`/v1/48213/rates`, `/v1/99412/rates`), data goes to somebody else. A request whose `Host` is another
name than the one that was connected to (domain fronting) hides where it goes.

Compare the request with what main asks of the same host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.probing import HOST
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
    replaced,
    rule,
)

_ELSEWHERE: Final = "Makes main's HTTP request, but to another account or place of the same shape."


@rule(
    "http-request",
    "New HTTP request over a known connection",
    severity="medium",
    confidence="medium",
    topic="network",
    cwe=(506, 200),
    attack=("T1071.001", "T1090.004"),
    why="A host that main talks to as well can still be asked for, or sent, something else.",
    fix="Compare the request with what main asks of the same host.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each request whose connection no other finding tells."""
    told = {
        b.detail.get("host") or b.subject.rpartition(":")[0]
        for b in new(context, BehaviourKind.CONNECT)
        if not b.detail.get("own")
    }
    for behaviour in new(context, BehaviourKind.HTTP):
        host, fronted = behaviour.detail.get("host", ""), behaviour.detail.get("fronted", "")
        if behaviour.detail.get("reach", "outside") in ("loopback", "none"):
            continue
        if host == HOST or host.endswith("." + HOST):
            continue
        if fronted:
            message = "Sends a request for one host to another one: domain fronting hides where it goes."
            yield behaviour_finding(check.meta, context, behaviour, message, severity=HIGH, confidence=LIKELY)
        elif host not in told:
            phase = phase_of(context, behaviour)
            severity, sure = (HIGH, SURE) if phase in UNASKED else (MEDIUM, LIKELY)
            message = "Makes an HTTP request that main does not make."
            account = _is_another_account(context, behaviour)
            if behaviour.shape or account:
                severity, message = HIGH, _ELSEWHERE
            yield behaviour_finding(
                check.meta,
                context,
                behaviour,
                message,
                severity=LOW if phase == "test" and not account else severity,
                confidence=sure,
            )


def _is_another_account(context: SignalContext, behaviour: Behaviour) -> bool:
    """Is it sent to main's host, with other identifiers in its path than what main sent and head does not?"""
    if behaviour.detail.get("method") not in SENDING:
        return False
    for gone in replaced(context, behaviour):
        same = all(gone.detail.get(key) == behaviour.detail.get(key) for key in ("host", "method", "scheme"))
        parts, before = _parts(behaviour), _parts(gone)
        others = [(a, b) for a, b in zip(parts, before, strict=False) if a != b]
        if same and len(parts) == len(before) and any(_is_name(a) and _is_name(b) for a, b in others):
            return True
    return False


def _parts(behaviour: Behaviour) -> list[str]:
    return behaviour.detail.get("path", "").partition("?")[0].split("/")


def _is_name(part: str) -> bool:
    """An account, a channel, a key: with a digit, and no version of the interface."""
    return any(c.isdigit() for c in part) and not (part[:1] in "vV" and part[1:].replace(".", "").isdigit())
