"""Proven: input is run as a template.

The input asked for the product of two numbers that were drawn for this run, and the answer holds the product.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.template-injection",
    "Proven: input is run as a template",
    severity="high",
    confidence="high",
    topic="injection",
    cwe=(1336, 94),
    why="Expressions of template languages reach Python's own objects, and from there everything.",
    fix="Give values to a constant template as variables; never make the template from them.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *template* that base was not open to."""
    yield from proven(check.meta, context, "template", "A request is computed as a template.")
