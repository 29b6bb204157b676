"""Proven: input adds a header.

A line break in the input ended a header of the answer, or of a mail that is sent, and another one of its own
follows.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.header-injection",
    "Proven: input adds a header",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(113, 93),
    why="Whoever makes the link sets cookies for the site and writes answers of his own.",
    fix="Refuse line breaks in values of headers.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *header* that base was not open to."""
    yield from proven(check.meta, context, "header", "A request adds a header to the answer, or to a mail.")
