"""Proven: input makes a regular expression slow.

Processor time of the pattern alone and of the whole request grew faster than its input by a power of 1.7 or
more, at three sizes. The longest input that the field may have takes half a second or more.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.slow-pattern",
    "Proven: input makes a regular expression slow",
    severity="medium",
    confidence="high",
    topic="resource",
    cwe=(1333, 400),
    why="A few such requests keep a server from answering anybody else.",
    fix=(
        "Write the pattern so that each character can be taken in one way only, bound the input's length, or "
        "use possessive repeats (Python 3.11) or an engine without backtracking."
    ),
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *slow-pattern* that base was not open to."""
    yield from proven(check.meta, context, "slow-pattern", "A request makes a regular expression slow.")
