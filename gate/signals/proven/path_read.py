"""Proven: input chooses a file outside.

A path in the input led out of the folder that is meant, and a decoy file there was opened for reading.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.path-read",
    "Proven: input chooses a file outside",
    severity="medium",
    confidence="high",
    topic="file",
    cwe=(22, 23, 36),
    why="Whoever sends the request reads files that are none of his, keys and settings among them.",
    fix=(
        "Resolve the path and check that it is below the folder, or use werkzeug's safe_join, "
        "send_from_directory."
    ),
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *path-read* that base was not open to."""
    yield from proven(check.meta, context, "path-read", "A request opens a file outside for reading.")
