"""The whole environment is collected: `/proc/*/environ`, `env`, or several planted variables in one
output.

Tokens live in environment variables on build machines. Reading one variable by name is ordinary and not
reported; collecting all of them is not.

Read the variables the code needs, by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.programs import HARVESTS, command_risk, kind_of
from gate.signals.rule_kit import LOW, MEDIUM, SURE, behaviour_finding, new, phase_of, programs, rule

_ENVIRON: Final = regex(r"/proc/[^/]+/(?:task/[^/]+/)?environ")
_PS: Final = ("ps", "top", "pgrep", "pkill")


@rule(
    "env-harvest",
    "Whole environment is collected",
    severity="high",
    confidence="medium",
    topic="credential",
    cwe=(526, 200),
    attack=("T1552", "T1082"),
    why="Build machines keep their tokens in the environment; who collects all of it gets them.",
    fix="Read the variables the code needs, by name.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """Reads of environ files, commands that print all, and two or more planted variables in a channel."""
    leaks: dict[tuple[str, str], list[Behaviour]] = {}
    for behaviour in new(context, BehaviourKind.READ, BehaviourKind.EXEC, BehaviourKind.CANARY):
        detail = behaviour.detail
        if behaviour.kind is BehaviourKind.READ:
            if _ENVIRON.fullmatch(behaviour.subject) and programs(behaviour)[-1] not in _PS:
                yield behaviour_finding(
                    check.meta, context, behaviour, "Reads a process's whole environment from /proc."
                )
        elif behaviour.kind is BehaviourKind.EXEC:
            argv = detail.get("argv", "")
            bare = kind_of(detail.get("program", "")) == "environment" and " " not in argv.strip()
            if bare or command_risk(argv) == HARVESTS:
                severity = LOW if phase_of(context, behaviour) == "test" else MEDIUM
                yield behaviour_finding(
                    check.meta,
                    context,
                    behaviour,
                    "Runs a command that prints all variables.",
                    severity=severity,
                )
        elif detail.get("canary", "").startswith("env:"):
            leaks.setdefault((detail.get("channel", ""), detail.get("to", "")), []).append(behaviour)
    for several in leaks.values():
        if len(several) > 1:
            message = "Several planted variables leave together."
            yield behaviour_finding(
                check.meta, context, several[0], message, confidence=SURE, more=several[1:]
            )
