"""Proven: a token that nobody signed is accepted.

The token is a JSON web token without a signature, or with one by a key that was drawn for this run. Its claim
came back in the answer, or it opened what is shut without a token and with a broken one. Or the request's
signature was left out: it is let in then, and refused with a wrong one.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.exploit import NO_SIGNATURE
from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, at_entries, finding_of, rule

_FORGED: Final = "A request with a token that nobody signed is let in."
_LEFT_OUT: Final = "A request without a signature is let in, one with a wrong signature is refused."


@rule(
    "exploit.forged-token",
    "Proven: a token that nobody signed is accepted",
    severity="high",
    confidence="high",
    topic="auth",
    cwe=(347, 287),
    why="Whoever sends the request says who he is, an administrator for example.",
    fix="Check the signature with the key and a fixed list of algorithms: jwt.decode(token, KEY, [...]).",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *token* that base was not open to."""
    for proof in at_entries(context, "token"):
        yield finding_of(check.meta, proof, _LEFT_OUT if proof.payload == NO_SIGNATURE else _FORGED)
