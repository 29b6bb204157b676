"""Proven: input becomes part of a page.

The answer is a page, and a tag that was sent is a tag of it: it was not escaped.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.cross-site-scripting",
    "Proven: input becomes part of a page",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(79,),
    why="Whoever makes the link runs scripts in the name of whoever opens it.",
    fix="Render with a template that escapes (Jinja2's autoescape), or markupsafe.escape every value.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *html* that base was not open to."""
    yield from proven(check.meta, context, "html", "A request puts a tag of its own into the page.")
