"""What a change newly tells coding agents to do: fetch and run, get round the checks, keep it from people.

Read as text, hidden comments included: an agent reads those, too. A sentence that forbids it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.commands.addresses import Origin
from gate.languages.commands.fetched import in_text
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, Severity
from gate.prescreen.interface import Source
from gate.prescreen.scanners.agent_conventions import conventions
from gate.prescreen.scanners.agent_sentences import SENTENCE, AgentSentence, forbids, sayings
from gate.prescreen.text_rule import finding, policy_rule
from gate.regex import regex

META: Final = policy_rule.meta(
    "governance.agent-told",
    "Agents are told to fetch and run, or to get round the checks",
    severity="high",
    confidence="high",
    topic="governance",
    cwe=(1427, 494),
    attack=("T1204", "T1105", "T1562"),
    why="Coding agents do what such a file says, on the machines and with the rights of whoever works on "
    "the project; no person starts it.",
    fix="Take the sentence out. What agents need is installed by the project's own, reviewed scripts.",
)
_LONGEST: Final = 1 << 17
_LONGEST_LINE: Final = 1 << 15
"""Characters of a line that are read for commands; nobody writes more by hand, and that is told."""
_TOO_LONG: Final = "Too long to be read to its end, in a file that agents obey."
_LONG_LINE: Final = "A line too long to be read, in a file that agents obey."
_MOST: Final = 5


def instruction_findings(source: Source, *, sent_to: bool = False) -> Iterator[Finding]:
    """Findings on lines that base has not, in a file that agents take instructions from. At most a few.

    ``sent_to``: agents are sent there, and people read it, too. Its commands are for them, and what it says
    is medium at most.
    """
    if len(source.head) > _LONGEST and not sent_to:
        yield finding(META, _TOO_LONG, Location(path=source.path), shape="too long", severity=Severity.MEDIUM)
    text = source.head[:_LONGEST].decode("utf-8", "replace")
    old = set((source.base or b"").decode("utf-8", "replace").split("\n"))
    lines = text.split("\n")
    seen: set[int] = set()
    said = [*sayings(text), *conventions(text), *(() if sent_to else _fetching(text))]
    for first, last, message, severity, sure in sorted(said, key=_order):
        if first in seen or len(seen) == _MOST or all(line in old for line in lines[first - 1 : last]):
            continue
        seen.add(first)
        place = Location(path=source.path, line=first, end_line=last)
        shape = " ".join(lines[first - 1 : last])[:200]
        yield finding(
            META,
            message,
            place,
            shape=shape,
            evidence={"text": shape.strip()},
            severity=min(severity, Severity.MEDIUM, key=lambda one: one.rank) if sent_to else severity,
            confidence=sure,
        )


def _order(said: AgentSentence) -> tuple[int, int, int]:
    """By place; of several at one line, the worst first."""
    return said.first, -said.severity.rank, said.last


def _fetching(text: str) -> Iterator[AgentSentence]:
    """Commands that fetch and run; a vendor's installer, or one that is named to be forbidden, is medium."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            yield AgentSentence(number, number, _LONG_LINE, Severity.MEDIUM, Confidence.HIGH)
    short = "\n".join(line if len(line) <= _LONGEST_LINE else "" for line in lines)
    for one in in_text(_PROSE.sub(r'\1"', short.replace("`", '"')), ()):
        if one.how == "made executable":
            continue
        before = _FETCHING.split(lines[one.first - 1], maxsplit=1)[0]
        mild = one.origin <= Origin.VENDOR or forbids(SENTENCE.split(before)[-1]) or one.checked
        mild = mild or (one.how == "cloned" and one.origin is not Origin.DOUBTFUL)
        level = Severity.MEDIUM if mild else Severity.HIGH
        yield AgentSentence(
            one.first, one.last, "Agents are told to fetch code and run it.", level, Confidence.HIGH
        )


_PROSE: Final = regex(r"(\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b)(?=\s+[A-Za-z]+\b(?![./-]))")
"""A command in the middle of a sentence: what follows are no words of its own."""
_FETCHING: Final = regex(r"\b(?:curl|wget|iwr|irm|bash|sh|base64)\b")
