"""One probe opened credentials and used the network: the two halves of theft.

Each half has its own finding; together, in one run, they are more than both. The list of accounts is
no secret, and programs read it for honest reasons; seen in what goes out (as it is, URL-encoded or as
base64), it is the first thing that an intruder asks for. Planted secrets have a rule of their own
(`canary-read`) that blocks.

Remove it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import SURE, behaviour_finding, new, programs, rule
from gate.signals.sensitive_paths import credential, owned

_AWAY: Final = ("outside", "metadata", "private")
_ACCOUNTS: Final = regex(
    r"(?:\b|x0a)root(?::|%3a)[^:%\s]{0,120}(?P<colon>:|%3a)0(?P=colon)0(?P=colon)|cm9vdDp4OjA6MDpyb290",
    re.IGNORECASE,
)
"""The first line of passwd(5): root, its password's place, uid 0, gid 0."""


@rule(
    "read-then-send",
    "Credentials read and network used",
    severity="critical",
    confidence="medium",
    topic="credential",
    cwe=(522, 506),
    attack=("T1552.001", "T1041"),
    why="Reading secrets and talking to another machine in one go is how they are stolen.",
    fix="Remove it.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each credential file read in a probe that also used the network anew, and for each
    time that the list of accounts goes out.
    """
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
            yield behaviour_finding(check.meta, context, behaviour, message, more=away)
    for behaviour in new(context, BehaviourKind.CONNECT, BehaviourKind.SEND, BehaviourKind.HTTP):
        sent = f"{behaviour.detail.get('path', '')} {behaviour.detail.get('head', '')}"
        if behaviour.detail.get("reach", "outside") in _AWAY and _ACCOUNTS.search(sent):
            yield behaviour_finding(
                check.meta, context, behaviour, "Sends the machine's list of accounts away.", confidence=SURE
            )
