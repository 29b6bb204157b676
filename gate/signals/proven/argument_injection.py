"""Proven: input is an option of a program.

A text that begins with ``-`` arrived as an argument of a program that is started without a shell, where no
``--`` ends the options.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.argument-injection",
    "Proven: input is an option of a program",
    severity="medium",
    confidence="high",
    topic="exec",
    cwe=(88,),
    why="Options of many programs write files or start others: git, tar, find, curl and convert are some.",
    fix='Put "--" before values, or refuse those that begin with "-".',
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *argument* that base was not open to."""
    yield from proven(check.meta, context, "argument", "A request gives a program an option of its choice.")
