"""A program is started with variables that make its loader run something else (`LD_PRELOAD`,
`GLIBC_TUNABLES`, `BASH_ENV`, `NODE_OPTIONS` ...).

So code gets into programs that everybody trusts. Some test tools do it on purpose (sanitizers, fake
clocks).

Start the program with the environment it would have anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, LOW, MEDIUM, behaviour_finding, new, phase_of, rule

_LOADER: Final = ("LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES")


@rule(
    "library-injection",
    "Loader of another program is redirected",
    severity="high",
    confidence="medium",
    topic="exec",
    cwe=(426, 427),
    attack=("T1574.006",),
    why="These variables put foreign code into every program started with them.",
    fix="Start the program with the environment it would have anyway.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each command with such variables."""
    for behaviour in new(context, BehaviourKind.EXEC):
        env = behaviour.detail.get("env", "")
        if env:
            grave = any(name in env for name in _LOADER) and phase_of(context, behaviour) != "test"
            severity = HIGH if grave else MEDIUM if phase_of(context, behaviour) != "test" else LOW
            message = "Starts a program with variables that redirect its loader."
            yield behaviour_finding(check.meta, context, behaviour, message, severity=severity)
