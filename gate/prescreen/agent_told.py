"""What a change newly tells coding agents to do: fetch and run, get round the checks, keep it from people.

Read as text, hidden comments included: an agent reads those, too. A sentence that forbids it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.commands.addresses import Place
from gate.commands.fetched import in_text
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, Severity
from gate.prescreen.interface import Source
from gate.prescreen.text_rule import about, finding

META: Final = replace(
    about(
        "governance.agent-told",
        "Agents are told to fetch and run, or to get round the checks",
        Severity.HIGH,
        Confidence.HIGH,
        topic="governance",
        cwe=(1427, 494),
        attack=("T1204", "T1105", "T1562"),
        why="Coding agents do what such a file says, on the machines and with the rights of whoever works on "
        "the project; no person starts it.",
        fix="Take the sentence out. What agents need is installed by the project's own, reviewed scripts.",
    ),
    stage=FindingStage.POLICY,
)
_LONGEST: Final = 1 << 17
_LONGEST_LINE: Final = 1 << 15
"""Characters of a line that are read for commands; nobody writes more by hand, and that is told."""
_TOO_LONG: Final = "Too long to be read to its end, in a file that agents obey."
_LONG_LINE: Final = "A line too long to be read, in a file that agents obey."
_MOST: Final = 5
_GUARD: Final = (
    r"(?:security|safety|sandbox\w*|guard-?rails?|vulnerabilit\w+|secret[- ]scan\w*"
    r"|code[- ]?reviews?|human (?:review|approval)|permission (?:prompts?|checks?)|approvals?|pre-?commit"
    r"|(?:git|commit) hooks?|ci checks?|the gate)"
)
_GETS_ROUND: Final = (
    r"\b(?:ignor(?:e|ing)|disregard|skip(?:ping)?|bypass(?:ing)?|disabl(?:e|ing)|turn(?:ing)? off"
    r"|circumvent|evade|suppress)\b"
    rf"[^.!?]{{0,50}}\b{_GUARD}\b"
)
_SWITCHES: Final = r"(?:--no-verify|--dangerously-skip-permissions|--trust-all-tools|--yolo)\b"
_FORGETS: Final = (
    r"\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|of)\s+){0,4}"
    r"(?:previous|prior|above|earlier|system|other|safety)\s+(?:instructions?|rules?|prompts?|guidelines)\b"
)
_SENDS: Final = (
    r"\b(?:send|post|upload|forward|submit|include|attach|curl|wget)\b[^!?]{0,80}(?<![\w.])"
    r"(?:\.env\b|secrets?\b|credentials?\b|api[ _-]?keys?\b|tokens?\b|environment variables|ssh keys?|id_rsa)"
    r"[^!?]{0,80}https?://(?!localhost)"
)
_PHRASES: Final = (
    ("Agents are told to get round a check.", _GETS_ROUND),
    ("Agents are told to get round a check.", _SWITCHES),
    ("Agents are told to forget their instructions.", _FORGETS),
    ("Agents are told to send secrets away.", _SENDS),
)
_HIDES: Final = (
    r"\b(?:do\s+not|don['\u2019]t|never|without)\s+(?:mention|tell|inform|reveal|disclos|notif|alert)\w*\b[^.!?]{0,60}"
    r"\b(?:users?|humans?|developers?|reviewers?|maintainers?|anyone|anybody|pull request|commit message)\b"
)
_LEAVES_OUT: Final = (
    r"\b(?:do\s+not|don['\u2019]t|never)\s+(?:run|perform|wait\s+for|ask\s+for|request)\b[^.!?]{0,30}"
    rf"\b{_GUARD}\b"
)
_FORBIDDEN: Final = (
    ("Agents are told to keep something from people.", _HIDES),
    ("Agents are told to get round a check.", _LEAVES_OUT),
)
"""Sentences whose own negation makes them what they are."""
_COMPILED: Final = tuple(
    (message, re.compile(pattern, re.IGNORECASE), negatable)
    for rows, negatable in ((_PHRASES, True), (_FORBIDDEN, False))
    for message, pattern in rows
)
_NEGATED: Final = re.compile(
    r"\b(?:never|not|don['\u2019]?t|mustn['\u2019]?t|can['\u2019]?t|cannot|avoid|refuse|forbid\w*|prohibit\w*|disallow\w*"
    r"|instead of|rather than|no)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.!?:](?=\s)|\n\s*\n|\n\s*[-*#>]")


def told(source: Source) -> Iterator[Finding]:
    """Findings on lines that base has not, in a file that agents take instructions from. At most a few."""
    if len(source.head) > _LONGEST:
        yield finding(META, _TOO_LONG, Location(path=source.path), shape="too long", severity=Severity.MEDIUM)
    text = source.head[:_LONGEST].decode("utf-8", "replace")
    old = set((source.base or b"").decode("utf-8", "replace").split("\n"))
    lines = text.split("\n")
    seen: set[int] = set()
    for first, last, message, severity in sorted((*_fetching(text), *_saying(text)), key=lambda row: row[:2]):
        if first in seen or len(seen) == _MOST or all(line in old for line in lines[first - 1 : last]):
            continue
        seen.add(first)
        place = Location(path=source.path, line=first, end_line=last)
        shape = " ".join(lines[first - 1 : last])[:200]
        yield finding(META, message, place, shape=shape, evidence={"text": shape.strip()}, severity=severity)


def _fetching(text: str) -> Iterator[tuple[int, int, str, Severity]]:
    """Commands that fetch and run; a vendor's installer, or one that is named to be forbidden, is medium."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            yield number, number, _LONG_LINE, Severity.MEDIUM
    short = "\n".join(line if len(line) <= _LONGEST_LINE else "" for line in lines)
    for one in in_text(_PROSE.sub(r'\1"', short.replace("`", '"')), ()):
        if one.how == "made executable":
            continue
        before = _FETCHING.split(lines[one.first - 1], maxsplit=1)[0]
        mild = one.place <= Place.VENDOR or bool(_NEGATED.search(before)) or one.checked
        yield (
            one.first,
            one.last,
            "Agents are told to fetch code and run it.",
            Severity.MEDIUM if mild else Severity.HIGH,
        )


_PROSE: Final = re.compile(r"(\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b)(?=\s+[A-Za-z]+\b(?![./-]))")
"""A command in the middle of a sentence: what follows are no words of its own."""
_FETCHING: Final = re.compile(r"\b(?:curl|wget|iwr|irm|bash|sh|base64)\b")


def _saying(text: str) -> Iterator[tuple[int, int, str, Severity]]:
    for message, pattern, negatable in _COMPILED:
        for match in pattern.finditer(text):
            before = _SENTENCE.split(text[max(0, match.start() - 120) : match.start()])[-1]
            if negatable and _NEGATED.search(before):
                continue
            first = text.count("\n", 0, match.start()) + 1
            yield first, first + match[0].count("\n"), message, Severity.HIGH
