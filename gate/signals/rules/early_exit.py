"""The probe ended before our driver was through: the code left the interpreter, or made it stop, or was not
through itself when its time was up (then the message says that).

`os._exit`, `exec` into another program or a crash at import keeps the rest of the code from being seen: a
warning at least, and where an import ends it with success, as nothing honest does, a block; so do many
calls that end the process in front of others. The same goes for threads and processes that an import or an
installation leaves running: what they do after the look, nobody saw. Processes that the trace shows are
told by name (`process-left-behind`), not here. Who writes results in the name of our driver wants to be
taken for code that ran, and blocks.

Let modules be imported without side effects; end programs in `main`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import FORGED, Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    SURE,
    UNASKED,
    behaviour_finding,
    left_behind,
    new,
    phase_of,
    rule,
)

_WORDS: Final = {
    "threads-left": "Was not seen to its end: threads still ran when the time for them was up.",
    "timed-out": "Was not seen to its end: it was not through when its time was up.",
}
"""By what the driver told, where it could: then nothing ended it."""


def _pretends(behaviour: Behaviour) -> bool:
    return "0" in (behaviour.detail.get("status"), behaviour.detail.get("exit_code"))


@rule(
    "early-exit",
    "Run ended before it was through",
    severity="high",
    confidence="medium",
    topic="evasion",
    cwe=(506, 705),
    attack=("T1497",),
    why="Who ends the run early keeps the rest from being seen.",
    fix="Let modules be imported without side effects; end programs in main.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each way to end."""
    told = {p for b in new(context, BehaviourKind.EXIT) if left_behind(b) for p in b.probes}
    for behaviour in new(context, BehaviourKind.EXIT):
        unasked = phase_of(context, behaviour) in UNASKED
        how = behaviour.detail.get("how", "")
        if behaviour.subject == FORGED:
            message = "Writes results in the name of our driver."
            yield behaviour_finding(
                check.meta, context, behaviour, message, severity=CRITICAL, confidence=SURE
            )
        elif behaviour.subject == "without-completion":
            message = _WORDS.get(how, "Ended the run before our driver was through.")
            severity = HIGH
            if how in _WORDS and not unasked:  # a slow test, or a call with arguments of ours, is ordinary
                severity = MEDIUM
            elif _pretends(behaviour) and (unasked or behaviour.detail.get("behind")):
                severity = CRITICAL
                message = "Pretends success and ends the run before our driver was through."
            yield behaviour_finding(check.meta, context, behaviour, message, severity=severity)
        elif behaviour.subject == "left-running" and not told.issuperset(behaviour.probes):
            message = "Leaves something running that outlives the look."
            yield behaviour_finding(
                check.meta, context, behaviour, message, severity=HIGH if unasked else LOW
            )
