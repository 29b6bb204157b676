"""Proven: an archive from outside writes outside.

An archive with a member whose name leads out of the folder was sent, and the file outside was written.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.archive-path",
    "Proven: an archive from outside writes outside",
    severity="high",
    confidence="high",
    topic="file",
    cwe=(22, 59),
    why="Whoever sends the archive replaces files of the application, code among them.",
    fix='Extract with filter="data" (tarfile), and check that each resolved name is below the folder.',
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *archive* that base was not open to."""
    yield from proven(check.meta, context, "archive", "An archive that is sent writes a file outside.")
