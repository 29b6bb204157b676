"""The change asks the cloud's instance metadata service, which hands out the machine's credentials.

`169.254.169.254` and its kin answer any process of a cloud machine, with no password. Cloud libraries
ask it when they are used; a change that asks it when it is imported, called or tested wants the
credentials.

Take credentials from the caller, or use the cloud's own library where its use is expected.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import behaviour_finding, new, rule
from gate.signals.rules.name_lookup import METADATA_NAMES


@rule(
    "metadata-service",
    "Cloud metadata service is asked",
    severity="high",
    confidence="high",
    topic="credential",
    cwe=(522, 918),
    attack=("T1552.005",),
    why="The service gives the machine's cloud credentials to whoever asks.",
    fix="Remove the request, or leave it to the cloud's own library.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each address or name of such a service."""
    for behaviour in new(context, BehaviourKind.CONNECT, BehaviourKind.SEND, BehaviourKind.DNS):
        if behaviour.detail.get("reach") == "metadata" or behaviour.subject in METADATA_NAMES:
            yield behaviour_finding(
                check.meta, context, behaviour, "Asks the cloud's instance metadata service."
            )
