"""The change deletes, empties, overwrites or moves away files that it did not make: many at once, or files
of the system.

Files that the run created itself are its own business, and so are caches. A single file of the tree is
told as information. Overwritten counts what was in the tree or planted before the run began, what the run
had read before, and what it opened for writing in place. A function that was called and wrote nothing but
text over files of the tree, without having read them, may be a generator: told with less confidence. Many
are 20 files of the tree; or at least 5 that hold data and are half of all that it has, which weighs less
in a script.

Delete only what the code made, or what the caller names.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.rule import Confidence, Severity
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    SURE,
    behaviour_finding,
    grouped_findings,
    new,
    phase_of,
    rule,
)
from gate.signals.sensitive_paths import credential, personal


@rule(
    "destructive-delete",
    "Files of others are deleted",
    severity="high",
    confidence="high",
    topic="file",
    cwe=(506, 73),
    attack=("T1485", "T1486"),
    why="Deleted or emptied files are gone; wipers and ransomware begin like this.",
    fix="Delete only what the code made, or what the caller names.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for a mass deletion, one for each system file, one for the rest of a place."""
    small: list[Behaviour] = []
    secret: list[Behaviour] = []
    persons: list[Behaviour] = []
    for behaviour in new(context, BehaviourKind.DELETE, BehaviourKind.RENAME):
        old = behaviour.detail.get("old", behaviour.subject)
        if grave := _grave(context, behaviour, old):
            message, severity, sure = grave
            yield behaviour_finding(
                check.meta, context, behaviour, message, severity=severity, confidence=sure
            )
        else:
            (secret if credential(old) else persons if personal(old) else small).append(behaviour)
    yield from grouped_findings(check.meta, context, secret, "Removes credential files.", confidence=LIKELY)
    yield from grouped_findings(check.meta, context, persons, "Removes a person's files.", confidence=SURE)
    message = "Removes files that the run did not make."
    yield from grouped_findings(check.meta, context, small, message, severity=LOW, confidence=LIKELY)


def _grave(context: SignalContext, behaviour: Behaviour, old: str) -> tuple[str, Severity, Confidence] | None:
    """Message and levels of what has a finding of its own; None for a single file."""
    phase = phase_of(context, behaviour)
    test, small_tree = phase == "test", "share" in behaviour.detail
    sure = LIKELY if test else SURE
    many = MEDIUM if test or (phase == "script" and small_tree) else HIGH
    if behaviour.detail.get("how") == "overwrites":
        generates = phase == "call" and behaviour.detail.get("written") == "as text"
        script = behaviour.detail.get("area") == "tree" and (phase == "script" or generates)
        # Formatters and generators do so too, when they are started.
        return "Overwrites many files that were there before.", many, LIKELY if script else sure
    if behaviour.subject.startswith("many files of"):
        return "Deletes or empties many files.", many, sure
    if behaviour.detail.get("place") in ("system", "own", "names", "quiet"):
        vital = old.startswith(("/etc/", "/boot", "/usr", "/bin", "/lib", "/root"))
        return "Removes a file of the system.", HIGH if vital else MEDIUM, sure
    return None
