"""The change starts a program that main does not start.

How much that means depends on the program: `git` or a compiler is everyday, `curl`, `nc`, `sudo`,
`crontab`, `docker` or `gdb` is not. Which is which is in `rules/programs.toml`.

Nothing, if the program belongs to what the code is for. Otherwise ask for a library call instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.signals.interface import SignalContext
from gate.signals.programs import kind_of
from gate.signals.rule_kit import (
    HIGH,
    LOW,
    MEDIUM,
    UNASKED,
    UNSURE,
    behaviour_finding,
    grouped_findings,
    new,
    phase_of,
    rule,
)

_GRAVE: Final = {
    "network": "Starts a network tool.",
    "rights": "Starts a program that changes rights, mounts or the kernel.",
    "schedule": "Starts a program that makes things run later.",
    "destroy": "Starts a program that wipes data.",
    "killer": "Starts a program that ends other processes.",
    "container": "Starts a container tool.",
    "debugger": "Starts a debugger or tracer.",
    "package": "Starts a package installer.",
    "survey": "Starts a program that looks the machine over.",
}
_LESS: Final = ("survey", "package", "killer")


@rule(
    "program-spawned",
    "New program is started",
    severity="low",
    confidence="medium",
    topic="exec",
    cwe=(78,),
    attack=("T1059", "T1106"),
    why="Another program can do what the code does not show.",
    fix="Nothing, if the program belongs to what the code is for.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each grave program, and one for all others of a place."""
    everyday: list[Behaviour] = []
    absent: list[Behaviour] = []
    for behaviour in new(context, BehaviourKind.EXEC):
        kind = kind_of(behaviour.detail.get("program", ""))
        if behaviour.detail.get("missing"):
            absent.append(behaviour)
        elif kind in _GRAVE:
            yield behaviour_finding(
                check.meta, context, behaviour, _GRAVE[kind], severity=_weight(context, behaviour, kind)
            )
        elif kind in ("quiet", "other"):
            everyday.append(behaviour)
    yield from grouped_findings(check.meta, context, everyday, "Starts programs that main does not start.")
    message = "Looks for programs that the sandbox does not have."
    yield from grouped_findings(check.meta, context, absent, message, confidence=UNSURE)


def _weight(context: SignalContext, behaviour: Behaviour, kind: str) -> Severity:
    phase = phase_of(context, behaviour)
    if phase == "test":
        return LOW
    if phase in UNASKED and kind not in _LESS:
        return HIGH
    return MEDIUM
