"""The change writes outside the tree and outside temporary folders.

A cache or a settings file below the home folder is common and told as information. Files of the system
or of installed packages are not the code's to write. Inside the tree, only source files overwritten at
import count: one may be generated, several are a worm or a wiper at work.

Write below the system's temporary or cache folder, or where the caller says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    HIGH,
    LIKELY,
    LOW,
    MEDIUM,
    SURE,
    UNASKED,
    behaviour_finding,
    grouped_findings,
    new,
    phase_of,
    rule,
)
from gate.signals.sensitive_paths import persistence

_MANY: Final = 3
"""Source files written by one import, from which on it is no generated file any more."""
_KERNEL: Final = regex(r"/proc/|/sys/")
_SOURCE: Final = regex(r"tree:(?:.*\.(?:py|pth|sh|js|ts|toml|cfg|ya?ml)|.*Makefile|\.git(?:hub)?/.*)\Z")


@rule(
    "write-outside-scratch",
    "Writes outside the tree",
    severity="medium",
    confidence="medium",
    topic="file",
    cwe=(73, 552),
    attack=("T1565.001", "T1036"),
    why="Files outside the tree outlive the run and belong to others.",
    fix="Write below the temporary or cache folder, or where the caller says.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each system path; one for all files below home; source files written at import."""
    home: list[Behaviour] = []
    source: list[Behaviour] = []
    for behaviour in new(context, BehaviourKind.WRITE, BehaviourKind.RENAME):
        path = behaviour.subject.rsplit(" to ", 1)[-1]
        if persistence(path) or _KERNEL.match(path):
            continue  # other rules
        if path.startswith("~"):
            home.append(behaviour)
        elif path.startswith("tree:"):
            if _SOURCE.match(path) and phase_of(context, behaviour) == "import":
                source.append(behaviour)
        elif behaviour.detail.get("place") in ("system", "own", "names", "quiet", "device"):
            sure = SURE if phase_of(context, behaviour) in UNASKED else LIKELY
            grave = path.startswith(("/etc/", "/dev/", "/boot/", "/bin", "/sbin", "/usr/bin", "/usr/sbin"))
            severity = HIGH if grave and sure is SURE else MEDIUM
            yield behaviour_finding(
                check.meta, context, behaviour, "Writes to the system.", severity=severity, confidence=sure
            )
    yield from grouped_findings(
        check.meta, context, home, "Writes files below the home folder.", severity=LOW
    )
    many = len({b.subject for b in source}) >= _MANY
    message = "Overwrites source files when imported."
    weight = (HIGH, SURE) if many else (MEDIUM, LIKELY)
    yield from grouped_findings(
        check.meta, context, source, message, severity=weight[0], confidence=weight[1]
    )
