"""Proven: input chooses where is written.

A path in the input, the name of an uploaded file for instance, led out of the folder that is meant, and a
file there was opened for writing.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.path-write",
    "Proven: input chooses where is written",
    severity="high",
    confidence="high",
    topic="file",
    cwe=(22, 73),
    why="Whoever sends the request replaces files of the application, code among them.",
    fix=(
        "Give files names of your own, or werkzeug's secure_filename, and check that the resolved path is"
        " below the folder."
    ),
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *path-write* that base was not open to."""
    yield from proven(check.meta, context, "path-write", "A request writes a file outside.")
