"""Proven: an argument of a function becomes part of a command, of code, of SQL, leads out of a folder, acts
while it is read or is taken for a valid token.

No entry point that could be asked leads to the function, so whether the argument comes from outside is for
its callers to say. What is proven is that a value is *mixed* with a text or a path of the function's own,
unquoted: a function that is there to run the command or to open the path that it is given is not told. Data
that runs a program while it is loaded is told whatever the function is there for, as is what it takes from a
socket or an event of a cloud, and runs. A token that nobody signed is told where
base refused it, or where the function's name says that it checks.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.exploit import Weakness
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.signals.proof_kit import MODEL, ProofContext, finding_of, of_functions, rule

_OF_FILE: Final = "parameter-file"
_TOLD: Final[dict[Weakness, tuple[str, Severity, int]]] = {
    "command": ("An argument that is put into a shell command runs a program.", Severity.MEDIUM, 78),
    "code": ("An argument that is put into a piece of code runs as code.", Severity.MEDIUM, 94),
    "sql": ("An argument that is put into an SQL text changes its structure.", Severity.MEDIUM, 89),
    "token": ("A token that nobody signed is taken for a valid one.", Severity.MEDIUM, 347),
    "slow-pattern": ("An argument makes a regular expression slow.", Severity.LOW, 1333),
    "query": ("An argument that is put into a query changes its structure.", Severity.MEDIUM, 943),
    "template": ("An argument that is put into a template is computed.", Severity.MEDIUM, 1336),
    "deserialisation": ("Data that is loaded runs a program.", Severity.MEDIUM, 502),
    "xml": ("An XML document that is read opens another file.", Severity.MEDIUM, 611),
    "archive": ("An archive that is unpacked writes outside of its folder.", Severity.MEDIUM, 22),
    "prototype": ("A name that is given leads to the prototype of every object.", Severity.MEDIUM, 1321),
    "predictable": ("A secret follows from the time at which it was made.", Severity.MEDIUM, 337),
    "path-read": ("An argument that is joined to a folder opens a file outside of it.", Severity.LOW, 22),
    "path-write": ("An argument that is joined to a folder writes a file outside of it.", Severity.LOW, 22),
}


@rule(
    "exploit.internal-function",
    "Proven: an argument becomes part of what is run",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(74,),
    why="The function is a hole as soon as a caller hands on what comes from outside.",
    fix="Pass values as values: parameters of SQL, lists of arguments, a path that is resolved and checked.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs on functions, where no entry point was proven at the same place."""
    for proof in of_functions(context):
        if proof.field[0] != MODEL and proof.weakness in _TOLD:
            message, severity, cwe = _TOLD[proof.weakness]
            if proof.field[0] == _OF_FILE and proof.weakness != "archive":
                severity = Severity.LOW  # whoever can write its files needs no other way
            yield finding_of(check.meta, proof, message, severity=severity, cwe=(cwe,))
