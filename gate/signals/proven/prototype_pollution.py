"""Proven: input changes every object of the process.

A body with a key like ``__proto__`` was sent, and every object had a property of the input afterwards.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.prototype-pollution",
    "Proven: input changes every object",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(1321,),
    why="Whoever sends the request sets options and rights that the code only reads, for every user.",
    fix="Refuse the keys __proto__, constructor and prototype, or keep what is sent in a Map.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *prototype* that base was not open to."""
    message = "A request gives every object of the process a property of its choice."
    yield from proven(check.meta, context, "prototype", message)
