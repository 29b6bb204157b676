"""The change uses a way around observation: another architecture's system calls, io_uring, or what a
trace does not account for. The tracer and the simulated network must tell of the same connections; every file
that the file system says was changed must have been opened, renamed or changed by a call that the tracer saw.

Ordinary programs make native calls. Some runtimes (Node.js among them) try io_uring when they start, so
that alone is told as information there.

Remove it. A trace with holes makes the verdict inconclusive by itself; this finding says where.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import LIKELY, LOW, behaviour_finding, new, programs, rule

_RUNTIMES: Final = ("node", "deno", "bun", "libuv", "npm")


@rule(
    "observation-evasion",
    "A way around observation is used",
    severity="high",
    confidence="high",
    topic="evasion",
    cwe=(506, 693),
    attack=("T1562", "T1106"),
    why="These ways are used to act without being seen by system call tracers.",
    fix="Remove it, or use the ordinary calls.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each way; lost events are information here, the verdict sees to them."""
    for behaviour in new(context, BehaviourKind.EVADE):
        if "gate's" in behaviour.subject:
            continue
        if behaviour.subject == "trace-incomplete":
            message = "Part of what it did was not recorded."
            yield behaviour_finding(check.meta, context, behaviour, message, severity=LOW, confidence=LIKELY)
        elif behaviour.subject == "io_uring" and programs(behaviour)[-1] in _RUNTIMES:
            yield behaviour_finding(
                check.meta, context, behaviour, "A runtime tries io_uring.", severity=LOW, confidence=LIKELY
            )
        elif behaviour.subject == "connection that reached nobody":
            message = "A connection was asked for and did not come to the simulated network."
            yield behaviour_finding(check.meta, context, behaviour, message, severity=LOW, confidence=LIKELY)
        elif behaviour.subject == "connection that the tracer did not see":
            yield behaviour_finding(
                check.meta, context, behaviour, "Made a connection that the tracer did not see."
            )
        elif behaviour.subject == "file changed by nothing that the tracer saw":
            yield behaviour_finding(
                check.meta, context, behaviour, "Changed a file by no call that the tracer saw."
            )
        else:
            yield behaviour_finding(
                check.meta, context, behaviour, "Makes system calls in a way that tracers may not see."
            )
