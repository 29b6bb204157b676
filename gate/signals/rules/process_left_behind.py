"""The change starts a process that is still there when what started it has ended, and main does not.

What it does later, nobody sees: a program that first sleeps for an hour, a listener that waits for orders.
Weighs more where the process got loose (a session of its own, `nohup`, forked twice), which no helper needs
that is to end with its caller. What calls and tests leave of `multiprocessing`, of agents that always go into
the background (`gpg-agent`, `git maintenance`), or without detaching it in a test, is told as information.

Wait for what you start, or end it; offer a service that runs on as a program of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    HIGH,
    LOW,
    MEDIUM,
    UNASKED,
    behaviour_finding,
    left_behind,
    new,
    phase_of,
    rule,
)

_AGENTS: Final = frozenset(
    ("adb", "dbus-daemon", "dirmngr", "git", "gpg-agent", "keyboxd", "ssh-agent", "watchman")
)
_SYSTEM: Final = ("/usr/", "/bin/", "/lib")
_WORKER: Final = regex(
    r"\S+ -c from multiprocessing\.(?:resource_tracker import main;main\(\d+\)"
    r"|spawn import spawn_main; spawn_main\([\w=, ]*\) --multiprocessing-fork"
    r"|forkserver import main; main\([\w\[\]{}'\"=:,./*\- ]*\))"
)
_WAYS: Final = {
    "session": "Starts a process that leaves its session and outlives what started it.",
    "orphan": "Starts a process whose parent ends at once, and that outlives what started it.",
    "nohup": "Starts a process that no hang-up ends and that outlives what started it.",
}


@rule(
    "process-left-behind",
    "Process outlives what started it",
    severity="medium",
    confidence="medium",
    topic="evasion",
    cwe=(506, 772),
    attack=("T1497.003", "T1543"),
    why="A process that runs on can do its work when nobody looks any more.",
    fix="Wait for what you start, or end it; offer a service that runs on as a program of its own.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each program left behind."""
    for behaviour in new(context, BehaviourKind.EXIT):
        if left_behind(behaviour):
            message = _WAYS.get(
                behaviour.detail.get("detached", ""), "Starts a process that outlives what started it."
            )
            yield behaviour_finding(
                check.meta, context, behaviour, message, severity=_weight(context, behaviour)
            )


def _weight(context: SignalContext, behaviour: Behaviour) -> Severity:
    phase = phase_of(context, behaviour)
    ordinary = phase not in UNASKED and _ordinary(behaviour)
    if behaviour.detail.get("detached") and not ordinary:
        return MEDIUM if phase == "test" else HIGH
    return LOW if ordinary or phase == "test" else MEDIUM


def _ordinary(behaviour: Behaviour) -> bool:
    """Agents of the system, and workers: forked copies and Python's own helpers."""
    told = behaviour.detail
    program = told.get("program", "")
    below = set(told.get("programs", "").split())  # what they started themselves is another matter
    if program in _AGENTS:
        return told.get("path", "").startswith(_SYSTEM) and below <= _AGENTS
    worker = program == "python" and _WORKER.fullmatch(told.get("argv", "")) is not None
    return not told.get("detached") and not below and (worker or not program)
