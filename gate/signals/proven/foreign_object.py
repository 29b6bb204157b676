"""Proven: somebody is given what is another's.

Two users with objects of their own asked for the same object: its owner is given it, and so is the other.
That it is not meant for everybody is told by the application: another route refuses it to that user.
Or a request without a log-in is let in, where another one about the same is refused: a route in front of the
guard of its path, or without one.
Or a user sends a role among the fields of a request: a route that refused him lets him in afterwards, or his
account, or another's, shows it. Or he is shown a page that only administrators are shown, as all others of
its path tell.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.exploit import NO_LOG_IN, PRIVILEGE
from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, at_entries, finding_of, rule

_FOREIGN: Final = "A request gets an object that belongs to another user."
_NO_GUARD: Final = "A request without a log-in is let in, where others about the same are refused."
_RAISED: Final = "A request sets a role that nobody may give himself."
_MESSAGES: Final = {NO_LOG_IN: _NO_GUARD, PRIVILEGE: _RAISED}


@rule(
    "exploit.foreign-object",
    "Proven: somebody is given what is another's",
    severity="medium",
    confidence="high",
    topic="auth",
    cwe=(639, 862, 863, 915),
    why="Whoever has an account reads what belongs to others by counting through the identifiers.",
    fix=(
        "Look the object up by its identifier and its owner, or compare the owner with who asks. Register "
        "the guard of a path before its routes. Take over only the fields that a user may set."
    ),
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *access* that base was not open to."""
    for proof in at_entries(context, "access"):
        yield finding_of(check.meta, proof, _MESSAGES.get(proof.payload, _FOREIGN))
