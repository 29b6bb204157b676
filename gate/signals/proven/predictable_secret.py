"""Proven: a secret follows from the time, or from numbers that can be computed.

A generator is seeded with the time, and the code in the answer is made of nothing else: with the same seed it
comes again, with another it does not. Whoever knows about when it was made tries the few seeds around that.
Or it is made with ``Math.random()``: whoever sees a few of its numbers computes those that follow.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.exploit import STATE_AGAIN
from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, at_entries, finding_of, rule

_TIMED: Final = "A secret in the answer follows from the time."
_DRAWN: Final = "A secret that a request is given follows from Math.random()."
_WEAK_GENERATOR: Final = (338, 330)


@rule(
    "exploit.predictable-secret",
    "Proven: a secret follows from the time, or from numbers that can be computed",
    severity="medium",
    confidence="high",
    topic="crypto",
    cwe=(337, 330),
    why="Whoever knows when an invitation, a reset or a session was made, or saw numbers, has it, too.",
    fix="Use the secrets module: secrets.token_urlsafe(); in JavaScript crypto.randomBytes(), randomInt().",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *predictable* that base was not open to."""
    for proof in at_entries(context, "predictable"):
        drawn = proof.payload == STATE_AGAIN
        yield finding_of(check.meta, proof, _DRAWN if drawn else _TIMED, cwe=_WEAK_GENERATOR if drawn else ())
