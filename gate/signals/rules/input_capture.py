"""The change opens the keyboard, the camera or the microphone, and main does not.

A program that reads these devices records what people type, say and show.

Use the desktop's own interface, which asks the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.kit import HIGH, SURE, BehaviourRule, about, new, together

META: Final = about(
    "input-capture",
    "Keyboard, camera or microphone is opened",
    HIGH,
    SURE,
    "spy",
    why="What people type, say and show holds passwords and secrets.",
    fix="Use the desktop's own interface, which asks the user.",
    cwe=(506, 359),
    attack=("T1056.001", "T1125", "T1123"),
)
_DEVICES: Final = re.compile(r"/dev/(?:input/|uinput|hidraw|video\d|snd/|fb\d|vcs)")


def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each place and program, however many devices."""
    opened = (b for b in new(context, BehaviourKind.READ, BehaviourKind.WRITE) if _DEVICES.match(b.subject))
    yield from together(META, context, opened, "Opens the keyboard, camera, microphone or screen.")


RULE: Final = BehaviourRule(META, check)
