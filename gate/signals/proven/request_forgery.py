"""Proven: input chooses where to connect.

An address or a host name that stands in the input alone was connected to or looked up.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.request-forgery",
    "Proven: input chooses where to connect",
    severity="high",
    confidence="high",
    topic="network",
    cwe=(918,),
    why=(
        "Whoever sends the request reaches services that only the server reaches, the cloud's credentials"
        " among them."
    ),
    fix="Choose hosts from a fixed list, and check the address that a name leads to.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *request-forgery* that base was not open to."""
    message = "A request makes the server connect to a host of its choice."
    yield from proven(check.meta, context, "request-forgery", message)
