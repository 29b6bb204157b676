"""The change asks where it runs: container marks, the tracer's pid, machine names, network cards,
uptime.

Code that behaves only when nobody watches asks first. One question of the common sort (processor,
control groups, uptime) is information, because libraries size their pools that way; two or more of the
telling sort are not.

Remove the questions, or say in the code what depends on the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

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

_COMMON: Final = frozenset(("cpu", "cgroup", "uptime", "machine-id", "network-card"))


@rule(
    "sandbox-probe",
    "Asks whether it is being watched",
    severity="medium",
    confidence="medium",
    topic="evasion",
    cwe=(506,),
    attack=("T1497.001", "T1622"),
    why="Malicious code asks where it runs, to stay quiet in sandboxes and act elsewhere.",
    fix="Remove the questions, or say in the code what depends on the answer.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """Two telling questions (or one and two common ones) are one grave finding; fewer are told as is."""
    asked = list(new(context, BehaviourKind.PROBE))
    telling = [b for b in asked if b.subject not in _COMMON]
    common = [b for b in asked if b.subject in _COMMON]
    subjects = {b.subject for b in telling}
    if len(subjects) >= 2 or (subjects and len({b.subject for b in common}) >= 2):
        everything: list[Behaviour] = telling + common
        severity = MEDIUM if all(phase_of(context, b) == "test" for b in telling) else HIGH
        message = "Asks several questions that tell a sandbox from a real machine."
        yield behaviour_finding(
            check.meta,
            context,
            everything[0],
            message,
            severity=severity,
            confidence=LIKELY,
            more=everything[1:],
        )
        return
    yield from grouped_findings(
        check.meta, context, telling, "Asks whether it is being watched.", confidence=SURE
    )
    yield from grouped_findings(
        check.meta, context, common, "Asks about the machine it runs on.", severity=LOW
    )
