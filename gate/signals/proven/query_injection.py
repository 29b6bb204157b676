"""Proven: input changes a query of LDAP, MongoDB or XPath.

The filter that the driver was given has the input as an attribute or an operator of its own; of XPath, an
answer to a condition in the input that is always true is another than to one that never is.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.query-injection",
    "Proven: input changes a query",
    severity="high",
    confidence="high",
    topic="injection",
    cwe=(943, 90, 643),
    why="Whoever sends the request finds entries that are not his, and passes log-ins that ask a directory.",
    fix=(
        "Escape values for the filter (escape_filter_chars), pass them to XPath as variables, make a text "
        "of what is compared in MongoDB: str(value)."
    ),
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *query* that base was not open to."""
    yield from proven(check.meta, context, "query", "A request changes the structure of a query.")
