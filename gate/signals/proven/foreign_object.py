"""Proven: a user is given another user's object.

Two users with objects of their own asked for the same object: its owner is given it, and so is the other.
That it is not meant for everybody is told by the application: another route refuses it to that user.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.foreign-object",
    "Proven: a user is given another user's object",
    severity="medium",
    confidence="high",
    topic="auth",
    cwe=(639, 862),
    why="Whoever has an account reads what belongs to others by counting through the identifiers.",
    fix="Look the object up by its identifier and its owner, or compare the owner with who asks.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *access* that base was not open to."""
    yield from proven(check.meta, context, "access", "A request gets an object that belongs to another user.")
