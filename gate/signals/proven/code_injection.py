"""Proven: input is run as code.

Input is evaluated as Python, and code in it started a program.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.code-injection",
    "Proven: input is run as code",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(94, 95),
    why="Whoever sends the request does whatever the application can.",
    fix="Do not evaluate input. ast.literal_eval reads plain values, a table of functions replaces names.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *code* that base was not open to."""
    yield from proven(check.meta, context, "code", "A request runs Python code of its own.")
