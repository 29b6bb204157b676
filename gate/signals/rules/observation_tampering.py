"""The change attacks what watches it: signals to the gate's own processes, writes to its files, talks
to its sockets.

This cannot happen by accident. It blocks the change whatever its score.

Remove it; look at everything else from the same author.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import behaviour_finding, new, rule


@rule(
    "observation-tampering",
    "The observation itself is attacked",
    severity="critical",
    confidence="high",
    topic="evasion",
    cwe=(506, 693),
    attack=("T1562.001", "T1622"),
    why="Code that attacks its observer wants to do what must not be seen.",
    fix="Remove it; look at everything else from the same author.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each attempt."""
    for behaviour in new(context, BehaviourKind.EVADE):
        if "gate's" in behaviour.subject:
            finding = behaviour_finding(check.meta, context, behaviour, "Attacks the gate's own observation.")
            yield replace(finding, hard_block=True)
