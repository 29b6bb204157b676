"""Logs or shell histories are deleted, emptied or switched off.

Who covers tracks knows why.

Remove it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.programs import COVERS, command_risk, kind_of
from gate.signals.rule_kit import behaviour_finding, new, programs, rule

_TRACKS: Final = regex(r"~/\.\w*_history\Z|/var/log/|/run/utmp|/var/run/utmp")


@rule(
    "history-tampering",
    "Logs or histories are tampered with",
    severity="high",
    confidence="high",
    topic="evasion",
    cwe=(778, 506),
    attack=("T1070.003", "T1070.002"),
    why="Emptied logs and histories hide what was done.",
    fix="Remove it.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """Deletions and emptying of such files, and commands that do it."""
    kinds = (BehaviourKind.DELETE, BehaviourKind.WRITE, BehaviourKind.RENAME, BehaviourKind.EXEC)
    for behaviour in new(context, *kinds):
        if behaviour.kind is BehaviourKind.EXEC:
            if command_risk(behaviour.detail.get("argv", "")) == COVERS:
                yield behaviour_finding(
                    check.meta, context, behaviour, "Runs a command that covers its tracks."
                )
        elif _TRACKS.match(behaviour.detail.get("old", behaviour.subject)):
            gone = behaviour.kind is not BehaviourKind.WRITE or behaviour.detail.get("how") == "empties"
            if gone and kind_of(programs(behaviour)[-1]) != "package":
                yield behaviour_finding(
                    check.meta, context, behaviour, "Deletes or empties a log or a history."
                )
