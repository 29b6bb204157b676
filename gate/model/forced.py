"""What lines that did not run by themselves did when they were forced to run."""

from __future__ import annotations

from typing import Final, Literal

from gate.dataclass import dataclass
from gate.model.rule import Confidence, Severity

GuardKind = Literal["", "digest", "host", "user", "date", "ci", "sandbox"]
"""What a condition asks for; empty for an ordinary one."""
GUARDS: Final = {
    "digest": "a digest",
    "host": "the machine's name",
    "user": "the user's name",
    "date": "the date",
    "ci": "a variable of CI",
    "sandbox": "a trait of a sandbox",
}
"""The same for people."""
FORCED_PORTS: Final = (49157, 49171)
"""The ports that forced execution makes up, one for each seed (gate/inside/driver/forced/marks.py)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """A condition that decides whether lines run: which lines, and its text with its sign (untrusted)."""

    first: int
    last: int
    text: str
    kind: GuardKind = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ForcedTarget:
    """A line of head that is to be forced: where its call begins, what it stands in, and the lines of base
    that are forced for comparison (line and column). ``receivers``: SensitiveCall.receivers.
    """

    path: str
    line: int
    column: int
    function: str
    in_tests: bool = False
    before: tuple[tuple[int, int], ...] = ()
    receivers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ForcedCopy:
    """How one place of a file in another language than Python is run: the edits that make an instrumented
    copy of the text, one packed text (``pack``) for each way of forcing it. ``module``: the file is an
    ECMAScript module.
    """

    line: int
    column: int
    ways: tuple[str, ...]
    module: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ForcedAct:
    """One thing that the line did, alike with both seeds and not at base: how an ordinary run that did it
    would be judged, and what it is, in words (``connects to 203.0.113.7:4444``, untrusted).
    """

    rule_id: str
    topic: str
    severity: Severity
    confidence: Confidence
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ForcedLine:
    """One forced line. ``told``: how far the driver says it came (a hint). ``conditions``: what has to hold
    for it to run, the innermost first. ``guard``: what the first of them that is no ordinary one asks for.
    """

    path: str
    line: int
    told: str = ""
    conditions: tuple[str, ...] = ()
    guard: GuardKind = ""
    acts: tuple[ForcedAct, ...] = ()
    in_tests: bool = False
