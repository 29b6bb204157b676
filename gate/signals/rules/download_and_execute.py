"""One probe fetches something by HTTP and executes what it did not have before: a second stage.

The two are told together when they happen in the same run: a download, and a program that the run itself
wrote, or a shell or interpreter that reads its program from standard input. The simulated network answers
with a harmless script, so that the second half shows itself. A set-up script that somebody has to start, and
that fetches an installer over TLS from a named host, weighs less: nobody sees what will be served, but
everybody sees that it is run.

Put what is needed into the tree, or pin it by digest and check that before it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.probing import HOST
from gate.signals.interface import SignalContext
from gate.signals.programs import kind_of
from gate.signals.rule_kit import (
    CRITICAL,
    HIGH,
    LIKELY,
    MEDIUM,
    SURE,
    UNASKED,
    behaviour_finding,
    fetched_openly,
    new,
    phase_of,
    rule,
)

_STDIN: Final = frozenset(("-", "-s", "/dev/stdin", "/dev/fd/0"))


@rule(
    "download-and-execute",
    "Fetches and executes a second stage",
    severity="critical",
    confidence="medium",
    topic="exec",
    cwe=(494, 506, 829),
    attack=("T1105", "T1059"),
    why="What is fetched when the code runs was reviewed by nobody, and can be another thing tomorrow.",
    fix="Put it into the tree, or pin it by digest and check that before it runs.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each download in whose runs something fresh was executed."""
    fresh = [b for b in new(context, BehaviourKind.EXEC) if _fresh(b)]
    for behaviour in new(context, BehaviourKind.HTTP):
        host = behaviour.detail.get("host", "")
        if behaviour.detail.get("method") not in ("GET", "POST"):
            continue
        if behaviour.detail.get("reach", "outside") in ("loopback", "none") or host == HOST:
            continue
        ran = [b for b in fresh if set(b.probes) & set(behaviour.probes)]
        if not ran:
            continue
        phase = phase_of(context, behaviour)
        severity = MEDIUM if phase == "test" or fetched_openly(context, behaviour) else HIGH
        severity, sure = (CRITICAL, SURE) if phase in UNASKED else (severity, LIKELY)
        message = "Fetches something and executes what it did not have before."
        yield behaviour_finding(
            check.meta, context, behaviour, message, severity=severity, confidence=sure, more=ran
        )


def _fresh(behaviour: Behaviour) -> bool:
    """A program that the run wrote, one in memory, or a program read from standard input."""
    detail = behaviour.detail
    if detail.get("program") == "memfd" or detail.get("dropped"):
        return True
    if kind_of(detail.get("program", "")) not in ("shell", "interpreter"):
        return False
    words = detail.get("argv", "").split()[1:]
    return bool(detail.get("script")) or not words or words[0] in _STDIN
