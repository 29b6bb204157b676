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
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    SURE,
    BehaviourRule,
    about,
    found,
    new,
    phase_of,
    together,
)
from gate.signals.sensitive import credential, personal

META: Final = about(
    "destructive-delete",
    "Files of others are deleted",
    HIGH,
    SURE,
    "file",
    why="Deleted or emptied files are gone; wipers and ransomware begin like this.",
    fix="Delete only what the code made, or what the caller names.",
    cwe=(506, 73),
    attack=("T1485", "T1486"),
)


def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for a mass deletion, one for each system file, one for the rest of a place."""
    small: list[Behaviour] = []
    secret: list[Behaviour] = []
    persons: list[Behaviour] = []
    for behaviour in new(context, BehaviourKind.DELETE, BehaviourKind.RENAME):
        phase = phase_of(context, behaviour)
        test, small_tree = phase == "test", "share" in behaviour.detail
        old = behaviour.detail.get("old", behaviour.subject)
        sure = LIKELY if test else SURE
        if behaviour.detail.get("how") == "overwrites":
            generates = phase == "call" and behaviour.detail.get("written") == "as text"
            script = behaviour.detail.get("area") == "tree" and (phase == "script" or generates)
            message = "Overwrites many files that were there before."
            severity = MEDIUM if test or (phase == "script" and small_tree) else HIGH
            sure = LIKELY if script else sure  # formatters and generators do so too, when they are started
            yield found(META, context, behaviour, message, severity=severity, confidence=sure)
        elif behaviour.subject.startswith("many files of"):
            severity = MEDIUM if test or (phase == "script" and small_tree) else HIGH
            yield found(
                META, context, behaviour, "Deletes or empties many files.", severity=severity, confidence=sure
            )
        elif behaviour.detail.get("place") in ("system", "own", "names", "quiet"):
            severity = HIGH if old.startswith(("/etc/", "/boot", "/usr", "/bin", "/lib", "/root")) else MEDIUM
            yield found(
                META, context, behaviour, "Removes a file of the system.", severity=severity, confidence=sure
            )
        elif credential(old):
            secret.append(behaviour)
        elif personal(old):
            persons.append(behaviour)
        else:
            small.append(behaviour)
    yield from together(META, context, secret, "Removes credential files.", confidence=LIKELY)
    yield from together(META, context, persons, "Removes a person's files.", confidence=SURE)
    message = "Removes files that the run did not make."
    yield from together(META, context, small, message, severity=LOW, confidence=LIKELY)


RULE: Final = BehaviourRule(META, check)
