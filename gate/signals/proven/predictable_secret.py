"""Proven: a secret follows from the time at which it was made.

A generator is seeded with the time, and the code in the answer is made of nothing else: with the same seed it
comes again, with another it does not. Whoever knows about when it was made tries the few seeds around that.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.predictable-secret",
    "Proven: a secret follows from the time",
    severity="medium",
    confidence="high",
    topic="crypto",
    cwe=(337, 330),
    why="Whoever knows the second in which an invitation, a reset or a session was made has it, too.",
    fix="Use the secrets module: secrets.token_urlsafe(), secrets.choice().",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *predictable* that base was not open to."""
    yield from proven(check.meta, context, "predictable", "A secret in the answer follows from the time.")
