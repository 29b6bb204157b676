"""The change reads files of the system or of the user's home that main does not read.

By itself this is information: programs look at many files. Account lists (`/etc/passwd`) opened by the
code itself, and files of other processes, weigh a little more. Locale, time zone, the C library's own
look-ups, the interpreter and installed packages are left out.

Nothing to do if the file belongs to what the code is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import LIKELY, MEDIUM, UNSURE, grouped_findings, new, rule
from gate.signals.sensitive_paths import credential, persistence

_ACCOUNTS: Final = regex(r"/etc/(?:passwd|group|login\.defs|subuid|crontab)|.*/passwd\.master|/proc/<pid>/")


@rule(
    "system-file-read",
    "Files of the system are read",
    severity="low",
    confidence="medium",
    topic="file",
    cwe=(200,),
    attack=("T1083", "T1005"),
    why="What a program knows about the machine it can use or send; most reads are harmless.",
    fix="Nothing, if the file belongs to what the code is for.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each place and program, however many files."""
    plain: list[Behaviour] = []
    accounts: list[Behaviour] = []
    looks: list[Behaviour] = []
    for behaviour in new(context, BehaviourKind.READ):
        if behaviour.detail.get("how") == "looks":
            looks.append(behaviour)
        elif credential(behaviour.subject) is None:
            known = _ACCOUNTS.match(behaviour.subject) or persistence(behaviour.subject)
            (accounts if known else plain).append(behaviour)
    message = "Reads account lists, start-up files or other processes' files."
    yield from grouped_findings(check.meta, context, accounts, message, severity=MEDIUM, confidence=LIKELY)
    yield from grouped_findings(
        check.meta, context, plain, "Reads files of the system that main does not read."
    )
    message = "Asks about files of the system that main does not ask about."
    yield from grouped_findings(check.meta, context, looks, message, confidence=UNSURE)
