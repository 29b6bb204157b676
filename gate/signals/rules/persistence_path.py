"""The change writes where code is run later: shell start-up files, cron, systemd, SSH keys, git hooks,
Python's own start-up files, account files, settings of coding assistants.

So a change outlives the run that looked harmless. The list is in `rules/sensitive-paths.toml`.

If the project installs such a file on purpose, let the user start it and name the place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.rule import Confidence, Severity
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    SURE,
    behaviour_finding,
    new,
    phase_of,
    programs,
    rule,
)
from gate.signals.sensitive_paths import owned, persistence

_HOOK: Final = regex(r"\.git/(?:modules/.+/)?hooks/")
_IN_ANOTHER_REPOSITORY: Final = regex(r"tree:(?!\.git/).+/\.git/hooks/")
"""Below the project, where the tree that is judged has no repository: a script made it just now."""


@rule(
    "persistence-path",
    "Writes where code is run later",
    severity="high",
    confidence="high",
    topic="persistence",
    cwe=(506, 732),
    attack=("T1546", "T1053", "T1098.004"),
    why="What is written there runs again without anybody asking, long after this change.",
    fix="Remove it, or let the user start it and name the place.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each path."""
    kinds = (BehaviourKind.WRITE, BehaviourKind.RENAME, BehaviourKind.LINK, BehaviourKind.CHMOD)
    for behaviour in new(context, *kinds):
        path = behaviour.subject
        if behaviour.kind is BehaviourKind.RENAME:
            path = path.rsplit(" to ", 1)[-1]
        elif behaviour.kind is BehaviourKind.LINK:
            path = path.split(" to ", 1)[0]
        what = persistence(path.rstrip("/"))
        if what is None or _built(context, behaviour, path):
            continue
        severity, confidence = _weight(context, behaviour, path, what)
        message = f"Writes where code is run later ({what})."
        yield behaviour_finding(
            check.meta, context, behaviour, message, severity=severity, confidence=confidence
        )


def _built(context: SignalContext, behaviour: Behaviour, path: str) -> bool:
    """A build writes .pth files and the like into its own folders."""
    return path.startswith("tree:") and not _HOOK.search(path) and phase_of(context, behaviour) != "import"


def _weight(
    context: SignalContext, behaviour: Behaviour, path: str, what: str
) -> tuple[Severity, Confidence]:
    if owned(path, programs(behaviour)[-1]) and not path.endswith("rc"):
        return LOW, LIKELY
    if what.startswith("settings of"):
        return MEDIUM, SURE
    if _IN_ANOTHER_REPOSITORY.match(path):
        return MEDIUM, LIKELY
    if phase_of(context, behaviour) == "test":
        return (MEDIUM, SURE) if path.startswith("tree:") else (HIGH, LIKELY)
    return HIGH, SURE
