"""Proven: XML from outside opens files.

A document with an external entity was sent, and the decoy file that the entity names was opened.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.xml-entity",
    "Proven: XML from outside opens files",
    severity="high",
    confidence="high",
    topic="injection",
    cwe=(611, 827),
    why="Whoever sends the document reads files of the server, and makes it connect elsewhere.",
    fix=(
        "Use defusedxml, or a parser that resolves no entities (lxml: resolve_entities=False, "
        "no_network=True)."
    ),
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *xml* that base was not open to."""
    yield from proven(check.meta, context, "xml", "A document that is sent opens a file of the server.")
