"""The change connects to, or sends datagrams to, another machine; main does not.

A connection when a module is merely imported or installed is how most malicious packages begin. Seen
from outside the code, in the kernel's own words: the address is what was asked for, whoever hid it in
the source. A connection to this machine itself (a database, a local server) is told as information.
Connections that only a test makes, or that a called function makes, weigh less: libraries have network
functions; less still where base's own code names the host. So do downloads over TLS by curl, git and the
like in a script that somebody has to start. A test's weighs in full where main's connection is gone and
this one stands in its place.

Ask what the other end is for. If it belongs there, let the user's call open it, never the import.
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
    SURE,
    UNASKED,
    UNSURE,
    behaviour_finding,
    called_openly,
    fetched_openly,
    known_at_base,
    new,
    phase_of,
    replaced,
    rule,
)


@rule(
    "new-outbound-connection",
    "New connection to another machine",
    severity="high",
    confidence="high",
    topic="network",
    cwe=(506, 200),
    attack=("T1071", "T1041"),
    why="Data can leave and commands can come in over a connection that main does not make.",
    fix="Find out what the destination is for; network use belongs behind an explicit call.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each destination."""
    for behaviour in filter(_is_ours, new(context, BehaviourKind.CONNECT, BehaviourKind.SEND)):
        reach = behaviour.detail.get("reach", "outside")
        severity, confidence = _weight(context, behaviour, reach)
        message = _MESSAGES[reach]
        if reach == "outside" and any(replaced(context, behaviour)):
            message = _INSTEAD
        if behaviour.shape and reach in ("outside", "private"):
            severity, confidence, message = HIGH, max(confidence, LIKELY, key=lambda c: c.rank), _ELSEWHERE
        yield behaviour_finding(
            check.meta, context, behaviour, message, severity=severity, confidence=confidence
        )


_ELSEWHERE: Final = "Opens main's connection, but to another machine of the same shape of name."
_INSTEAD: Final = "Opens a connection to another machine, in the place of one that main opens."
_MESSAGES: Final = {
    "outside": "Opens a connection to another machine that main does not open.",
    "private": "Opens a connection to a machine of a private network.",
    "local": "Talks to the local network segment.",
    "loopback": "Connects to a port of this machine.",
    "none": "Connects to a port of this machine.",
}


def _weight(context: SignalContext, behaviour: Behaviour, reach: str) -> tuple[Severity, Confidence]:
    phase = phase_of(context, behaviour)
    host = behaviour.detail.get("host", "")
    if host == HOST or host.endswith("." + HOST):
        return LOW, LIKELY  # where our own probe told it to connect
    if reach in ("loopback", "none"):
        return LOW, LIKELY
    if reach == "local":
        return LOW, SURE
    if behaviour.kind is BehaviourKind.CONNECT and behaviour.detail.get("proto") == "udp":
        return MEDIUM, UNSURE  # sends nothing yet: also the usual way to learn one's own address
    named = bool(host)  # a name was looked up; a bare address is rarely an honest one
    if phase == "test":
        if reach == "outside" and not named:
            return HIGH, LIKELY
        if reach == "outside" and any(b.detail.get("reach") == reach for b in replaced(context, behaviour)):
            return HIGH, LIKELY
        return MEDIUM, SURE if reach == "outside" else LIKELY
    if reach == "outside" and fetched_openly(context, behaviour):
        return MEDIUM, SURE
    if reach == "private":
        return (HIGH, LIKELY) if phase in UNASKED else (MEDIUM, LIKELY)
    if known_at_base(context, behaviour):
        return MEDIUM, LIKELY
    if called_openly(context, behaviour):
        return HIGH, UNSURE
    return HIGH, SURE if phase in UNASKED or not named else LIKELY


def _is_ours(behaviour: Behaviour) -> bool:
    """False for what other rules tell, and for a server of the run itself."""
    return behaviour.detail.get("reach") not in ("metadata", "unix") and not behaviour.detail.get("own")
