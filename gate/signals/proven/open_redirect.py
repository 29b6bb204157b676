"""Proven: input chooses where a redirect leads.

The answer is a redirect whose Location has the host that stands in the input.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.open-redirect",
    "Proven: input chooses where a redirect leads",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(601,),
    why="A link to the trusted site leads to a page that only looks like it.",
    fix="Redirect to paths of your own: refuse what has a host, or choose from a fixed list.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *open-redirect* that base was not open to."""
    message = "A request is redirected to a host of its choice."
    yield from proven(check.meta, context, "open-redirect", message)
