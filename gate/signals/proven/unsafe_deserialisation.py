"""Proven: input is unpickled.

A pickle, or YAML with Python's tags, was sent, and what it names to be called was called: a program was
executed.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.deserialisation",
    "Proven: input is unpickled",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(502,),
    why="Such data is a program. Whoever sends it does whatever the application can.",
    fix="Read JSON, or yaml.safe_load; sign what has to be pickled and check that first.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *deserialisation* that base was not open to."""
    message = "A request runs a program of its choice while it is deserialised."
    yield from proven(check.meta, context, "deserialisation", message)
