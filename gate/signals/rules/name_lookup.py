"""The change asks for a host name that main does not ask for.

Where nothing answers, the look-up is all that is seen of a connection to a named host: the code would
have gone on. Names also carry data out by themselves (DNS tunnelling). `?` stands for a look-up whose
name could not be seen. Look-ups of the name that our own probes pass into functions (`example.invalid`)
are information.

Ask what the host is for. Look-ups belong behind an explicit call, never in an import.
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
    rule,
)

METADATA_NAMES: Final = ("metadata.google.internal", "metadata.goog", "instance-data.ec2.internal")


@rule(
    "name-lookup",
    "New host name is looked up",
    severity="high",
    confidence="high",
    topic="network",
    cwe=(506, 200),
    attack=("T1071.004", "T1048.003"),
    why="Who looks a name up is about to talk to it; the name itself can carry data.",
    fix="Find out what the host is for; network use belongs behind an explicit call.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each name."""
    for behaviour in new(context, BehaviourKind.DNS):
        if behaviour.subject in METADATA_NAMES:
            continue
        severity, confidence = _weight(context, behaviour)
        message = "Looks up a host name that main does not look up."
        yield behaviour_finding(
            check.meta, context, behaviour, message, severity=severity, confidence=confidence
        )


def _weight(context: SignalContext, behaviour: Behaviour) -> tuple[Severity, Confidence]:
    name, phase = behaviour.subject, phase_of(context, behaviour)
    if name == HOST or name.endswith("." + HOST):
        return LOW, LIKELY
    unknown = name.startswith("?")  # what was asked was not seen
    if not unknown and ("." not in name or name.endswith((".localhost", ".local", ".localdomain", ".arpa"))):
        return LOW, SURE
    if not unknown and fetched_openly(context, behaviour):
        return MEDIUM, SURE
    if phase == "test":
        return MEDIUM, LIKELY
    if not unknown and known_at_base(context, behaviour):
        return MEDIUM, LIKELY
    if not unknown and called_openly(context, behaviour):
        return HIGH, UNSURE
    if phase in UNASKED:
        return HIGH, LIKELY if unknown else SURE
    return (MEDIUM, SURE) if unknown else (HIGH, LIKELY)
