"""The probe ended before our driver was through: the code left the interpreter, or made it stop, or was not
through itself when its time was up (then the message says that).

`os._exit`, `exec` into another program or a crash at import keeps the rest of the code from being seen.
The verdict is inconclusive at best; this says why. The same goes for threads and processes that an
import or an installation leaves running: what they do after the look, nobody saw. Processes that the trace
shows are told by name (`process-left-behind`), not here.

Let modules be imported without side effects; end programs in `main`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    UNASKED,
    BehaviourRule,
    about,
    found,
    left_behind,
    new,
    phase_of,
)

META: Final = about(
    "early-exit",
    "Run ended before it was through",
    MEDIUM,
    LIKELY,
    "evasion",
    why="Who ends the run early keeps the rest from being seen.",
    fix="Let modules be imported without side effects; end programs in main.",
    cwe=(506, 705),
    attack=("T1497",),
)
_WORDS: Final = {
    "threads-left": "Was not seen to its end: threads still ran when the time for them was up.",
    "timed-out": "Was not seen to its end: it was not through when its time was up.",
}
"""By what the driver told, where it could: then nothing ended it."""


def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each way to end; pretending success at import weighs more."""
    told = {p for b in new(context, BehaviourKind.EXIT) if left_behind(b) for p in b.probes}
    for behaviour in new(context, BehaviourKind.EXIT):
        if behaviour.subject == "without-completion":
            pretends = behaviour.detail.get("exit_code") == "0" and phase_of(context, behaviour) in UNASKED
            severity = HIGH if pretends else MEDIUM
            message = _WORDS.get(
                behaviour.detail.get("how", ""), "Ended the run before our driver was through."
            )
            yield found(META, context, behaviour, message, severity=severity)
        elif behaviour.subject == "left-running" and not told.issuperset(behaviour.probes):
            unasked = phase_of(context, behaviour) in UNASKED
            message = "Leaves something running that outlives the look."
            yield found(META, context, behaviour, message, severity=MEDIUM if unasked else LOW)


RULE: Final = BehaviourRule(META, check)
