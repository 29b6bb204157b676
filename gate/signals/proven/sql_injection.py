"""Proven: input changes the SQL.

A word of the input stands in the statement as a name of its own, outside of every text: the input has become
part of the statement's structure.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.sql-injection",
    "Proven: input changes the SQL",
    severity="high",
    confidence="high",
    topic="injection",
    cwe=(89,),
    why="Whoever sends the request reads and changes what the database holds.",
    fix=(
        'Pass values as parameters: execute("... WHERE name = ?", (name,)); choose names of columns '
        "from a fixed list."
    ),
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *sql* that base was not open to."""
    yield from proven(check.meta, context, "sql", "A request changes the structure of the SQL that is sent.")
