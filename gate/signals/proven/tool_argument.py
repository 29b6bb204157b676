"""Proven: what a language model says acts: the argument of a tool that it calls, or its answer.

Whoever writes a page, a mail or a document that the model reads decides what it says (prompt injection), so
its words are input as a request's are. As for other functions, a value has to become *part* of a command, of
code, of SQL or of a path: a tool that is there to run what it is given is not told. A tool that opens
addresses is told where it reaches this machine's own, not where it reads what is public.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.exploit import Weakness
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.signals.proof_kit import MODEL, ProofContext, finding_of, of_functions, rule

_HIGH, _MEDIUM = Severity.HIGH, Severity.MEDIUM
_TOLD: Final[dict[Weakness, tuple[str, Severity, int]]] = {
    "command": ("What a language model says runs a program of its choice.", _HIGH, 78),
    "code": ("What a language model says runs as code.", _HIGH, 94),
    "sql": ("What a language model says changes the structure of an SQL statement.", _HIGH, 89),
    "deserialisation": ("What a language model says runs a program while it is loaded.", _HIGH, 502),
    "path-write": ("What a language model says writes a file outside of the folder.", _HIGH, 22),
    "archive": ("What a language model says writes a file outside of the folder.", _HIGH, 22),
    "request-forgery": ("What a language model says connects to this machine's own services.", _MEDIUM, 918),
    "path-read": ("What a language model says opens a file outside of the folder.", _MEDIUM, 22),
    "query": ("What a language model says changes the structure of a query.", _MEDIUM, 943),
    "template": ("What a language model says is computed by a template engine.", _MEDIUM, 1336),
    "xml": ("An XML document of a language model opens another file.", _MEDIUM, 611),
    "slow-pattern": ("What a language model says makes a regular expression slow.", Severity.LOW, 1333),
}


@rule(
    "exploit.tool-argument",
    "Proven: what a language model says acts",
    severity="high",
    confidence="high",
    topic="injection",
    cwe=(77, 1426),
    why="Whoever writes what the model reads decides what it says, and so what this code does.",
    fix="Take a tool's arguments for input: bind, resolve and check them, or choose from a fixed list.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs whose payload was a language model's word."""
    for proof in of_functions(context):
        if proof.field[0] == MODEL and proof.weakness in _TOLD:
            message, severity, cwe = _TOLD[proof.weakness]
            yield finding_of(check.meta, proof, message, severity=severity, cwe=(cwe, 77))
