"""Proven: input is run as a command.

Input becomes part of a command that a shell runs, and a program named in the input was executed.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.command-injection",
    "Proven: input is run as a command",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(78, 77),
    why="Whoever sends the request runs programs with the rights of the application.",
    fix="Use a list of arguments and no shell; where a shell is needed, shlex.quote every value.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *command* that base was not open to."""
    yield from proven(check.meta, context, "command", "A request runs a program of its choice.")
