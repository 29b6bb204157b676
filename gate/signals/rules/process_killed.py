"""The probe was killed by a signal: a crash in native code, or the code ended itself that way.

Main does not crash under the same probe. What would have come after was not seen.

Fix the crash.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import behaviour_finding, new, rule


@rule(
    "process-killed",
    "Run was ended by a signal",
    severity="high",
    confidence="medium",
    topic="resource",
    cwe=(248, 119),
    attack=("T1499.004",),
    why="A crash hides what would have come after it, and may be an attack on the interpreter.",
    fix="Fix the crash.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each probe that was killed."""
    for behaviour in new(context, BehaviourKind.EXIT):
        if behaviour.subject == "killed":
            yield behaviour_finding(
                check.meta, context, behaviour, "Was ended by a signal, which main is not."
            )
