"""The change opens the keyboard, the camera or the microphone, and main does not.

A program that reads these devices records what people type, say and show.

Use the desktop's own interface, which asks the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import grouped_findings, new, rule

_DEVICES: Final = regex(r"/dev/(?:input/|uinput|hidraw|video\d|snd/|fb\d|vcs)")


@rule(
    "input-capture",
    "Keyboard, camera or microphone is opened",
    severity="high",
    confidence="high",
    topic="spy",
    cwe=(506, 359),
    attack=("T1056.001", "T1125", "T1123"),
    why="What people type, say and show holds passwords and secrets.",
    fix="Use the desktop's own interface, which asks the user.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each place and program, however many devices."""
    opened = (b for b in new(context, BehaviourKind.READ, BehaviourKind.WRITE) if _DEVICES.match(b.subject))
    yield from grouped_findings(
        check.meta, context, opened, "Opens the keyboard, camera, microphone or screen."
    )
