"""The change did not end in its time, main does.

An endless loop, or a wait that is to outlast the look. What would have come after was not seen. An import or
an installation that never ends weighs most; a slow test least. A program that main does not have weighs less:
one that serves, or waits for what is not there, is ordinary, and its lines that did not run are judged
by what they can do.

Bound loops and waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, LOW, MEDIUM, behaviour_finding, new, phase_of, rule

_SEVERITY: Final = {"test": LOW, "call": MEDIUM}


@rule(
    "timeout",
    "Did not end in time",
    severity="high",
    confidence="medium",
    topic="resource",
    cwe=(835, 400),
    attack=("T1497.003",),
    why="Code that waits longer than anybody looks can do its work afterwards.",
    fix="Bound loops and waits.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding; what nobody can wait for says more than what is only slow."""
    for behaviour in new(context, BehaviourKind.LIMIT):
        if behaviour.subject == "wall-time":
            phase = phase_of(context, behaviour)
            added = phase == "script" and _is_added(context, behaviour)
            message = "Did not end in its time, " + ("and is new." if added else "which main does.")
            severity = MEDIUM if added else _SEVERITY.get(phase, HIGH)
            yield behaviour_finding(check.meta, context, behaviour, message, severity=severity)


def _is_added(context: SignalContext, behaviour: Behaviour) -> bool:
    """Is it a program of files that base does not have?"""
    added = {file.path for file in context.change.files if file.status == "added"}
    paths = {run.probe.path for run in context.runs if run.probe.id in behaviour.probes}
    return bool(paths) and paths <= added
