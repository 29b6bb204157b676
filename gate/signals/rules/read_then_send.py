"""One probe opened credentials and used the network: the two halves of theft.

Each half has its own finding; together, in one run, they are more than both. Planted secrets have a
rule of their own (`canary-read`) that blocks.

Remove it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.kit import CRITICAL, LIKELY, BehaviourRule, about, found, new, programs
from gate.signals.sensitive import credential, owned

META: Final = about(
    "read-then-send",
    "Credentials read and network used",
    CRITICAL,
    LIKELY,
    "credential",
    why="Reading secrets and talking to another machine in one go is how they are stolen.",
    fix="Remove it.",
    cwe=(522, 506),
    attack=("T1552.001", "T1041"),
)
_AWAY: Final = ("outside", "metadata", "private")


def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each credential file read in a probe that also used the network anew."""
    away = [
        b
        for b in new(context, BehaviourKind.CONNECT, BehaviourKind.SEND, BehaviourKind.DNS)
        if b.detail.get("reach", "outside") in _AWAY
    ]
    probes = {probe for b in away for probe in b.probes}
    for behaviour in new(context, BehaviourKind.READ):
        if not probes.intersection(behaviour.probes) or not credential(behaviour.subject):
            continue
        if behaviour.detail.get("how") == "looks":
            continue
        if not owned(behaviour.subject, programs(behaviour)[-1]):
            message = "Opens a credential file and uses the network in the same run."
            yield found(META, context, behaviour, message, more=away)


RULE: Final = BehaviourRule(META, check)
