"""The change starts a shell or another interpreter; main does not, or not with that command.

A shell runs whatever its text says, and text is easy to hide. In tests and build scripts it is common,
at import it is not. Everyday commands (`sh -c "gcc ..."`, `uname`, `git`) are left at information.

Call the program directly with an argument list, and only when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.rule import Confidence, Severity
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.programs import everyday_shell, kind_of
from gate.signals.rule_kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    UNASKED,
    UNSURE,
    behaviour_finding,
    new,
    phase_of,
    rule,
)

_HELPER: Final = regex(
    r"\S*python[\d.]*(?: -[A-Za-z]\S*)*? -c from multiprocessing\.\w+ import \w+ ?; ?\w+\([\w\s=,\[\]'./*]*\)"
    r"(?: --multiprocessing-fork)?"
    r"|\S*python[\d.]* -E -c pass"  # setuptools tries whether .pth files are read
)
_RECIPE: Final = regex(r"(?:\A|>)g?make>[^>]+\Z")
"""A target that somebody asks for; each line of it is a shell's, and stands in the Makefile."""


@rule(
    "shell-or-interpreter-spawned",
    "Shell or interpreter is started",
    severity="medium",
    confidence="medium",
    topic="exec",
    cwe=(78,),
    attack=("T1059",),
    why="A shell runs whatever its text says, and text can come from anywhere.",
    fix="Call the program directly with an argument list, and only when somebody asks for it.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each command."""
    for behaviour in new(context, BehaviourKind.EXEC):
        kind = kind_of(behaviour.detail.get("program", ""))
        if _HELPER.fullmatch(behaviour.detail.get("argv", "")):
            continue  # Python's own; what it then does is traced all the same
        if behaviour.detail.get("missing"):
            continue  # nothing was started
        if kind in ("shell", "interpreter"):
            severity, confidence = _weight(context, behaviour, kind)
            message = (
                f"Starts {'a shell' if kind == 'shell' else 'an interpreter'} that main does not start so."
            )
            yield behaviour_finding(
                check.meta, context, behaviour, message, severity=severity, confidence=confidence
            )


def _weight(context: SignalContext, behaviour: Behaviour, kind: str) -> tuple[Severity, Confidence]:
    phase = phase_of(context, behaviour)
    argv = behaviour.detail.get("argv", "")
    if everyday_shell(argv):
        return LOW, UNSURE
    if phase == "test" or (phase == "script" and _RECIPE.search(behaviour.actor)):
        return LOW, LIKELY
    if kind == "interpreter":
        return (MEDIUM, LIKELY) if phase in UNASKED else (LOW, LIKELY)
    return (HIGH, LIKELY) if phase == "import" else (MEDIUM, LIKELY)
