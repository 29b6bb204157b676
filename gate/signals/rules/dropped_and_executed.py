"""The run writes a program and then executes it, or executes one that exists in memory only.

What was not in the tree cannot have been reviewed. Tests often do this with small scripts; an import or
an install does not. A called function that executes the file which our own probe passed to it weighs less,
and so does the pip of an environment that `python -m venv` made, as it made it.

Put the program into the tree, where it can be read.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.programs import kind_of
from gate.signals.rule_kit import HIGH, LIKELY, LOW, MEDIUM, SURE, behaviour_finding, new, phase_of, rule


@rule(
    "dropped-and-executed",
    "Freshly written program is executed",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(506, 494),
    attack=("T1105", "T1620"),
    why="A program that appears only when the code runs was reviewed by nobody.",
    fix="Put the program into the tree, where it can be read.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each such program, and for scripts given to an interpreter."""
    for behaviour in new(context, BehaviourKind.EXEC):
        test = phase_of(context, behaviour) == "test"
        if behaviour.detail.get("program") == "memfd":
            yield behaviour_finding(
                check.meta, context, behaviour, "Executes a program that exists in memory only."
            )
        elif behaviour.detail.get("dropped"):
            message = "Executes a program that the run itself wrote."
            given = behaviour.detail.get("given") and phase_of(context, behaviour) == "call"
            usual = test or given or behaviour.detail.get("environment")
            severity, sure = (MEDIUM, LIKELY) if usual else (HIGH, SURE)
            yield behaviour_finding(
                check.meta, context, behaviour, message, severity=severity, confidence=sure
            )
        elif behaviour.detail.get("script") and kind_of(behaviour.detail["program"]) in (
            "shell",
            "interpreter",
        ):
            message = "Gives an interpreter a script that the run itself wrote."
            yield behaviour_finding(
                check.meta, context, behaviour, message, severity=LOW if test else MEDIUM, confidence=LIKELY
            )
