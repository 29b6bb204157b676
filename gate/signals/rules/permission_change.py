"""Permissions change in a way that matters: set-user-id bits, files of the system, a written file made
executable.

Making a freshly written script executable is common and told as information; what it is used for is
another rule's.

Set modes when files are made, and only on files of one's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    SURE,
    behaviour_finding,
    grouped_findings,
    new,
    phase_of,
    rule,
)


@rule(
    "permission-change",
    "Permissions are changed",
    severity="medium",
    confidence="medium",
    topic="file",
    cwe=(732, 250),
    attack=("T1222.002", "T1548.001"),
    why="A set-user-id program lends its owner's rights; loosened system files let others in.",
    fix="Set modes only on files of one's own.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each grave change; freshly executable files together."""
    fresh: list[Behaviour] = []
    for behaviour in new(context, BehaviourKind.CHMOD):
        what = behaviour.detail.get("what")
        if what == "setuid":
            sure = LIKELY if phase_of(context, behaviour) == "test" else SURE
            yield behaviour_finding(
                check.meta, context, behaviour, "Sets a set-user-id bit.", severity=HIGH, confidence=sure
            )
        elif what == "executable":
            fresh.append(behaviour)
        elif behaviour.detail.get("place") == "home":
            yield behaviour_finding(
                check.meta, context, behaviour, "Changes permissions below the home folder.", severity=LOW
            )
        else:
            yield behaviour_finding(
                check.meta,
                context,
                behaviour,
                "Changes permissions or the owner of a system file.",
                severity=MEDIUM,
            )
    yield from grouped_findings(
        check.meta, context, fresh, "Makes files executable that the run wrote.", severity=LOW
    )
