"""Evidence in whole lines of a message or a pull request's body: footers, session links, subjects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gate.attribution.message import Message
from gate.attribution.people import named
from gate.attribution.rule_file import FLAGS, TextRule, attribution_rules
from gate.model.attribution import AttributionEvidence

_DECORATION: Final = re.compile(r"[^\w\n<\[(]*")
_LONGEST: Final = 500
_ROBOT: Final = "\N{ROBOT FACE}"
_FOOTER: Final = re.compile(
    r"(?:[\W_]|<\w{1,6}>)*(?:generated|created|made|written|built|authored) (?:with|by|using|via)[\s*_]*"
    r"\[(?P<name>[^\[\]]{1,60})\]\(https?://(?P<host>[\w.-]{3,100})[^\s()]{0,200}\)(?:[\W_]|</\w{1,6}>)*",
    FLAGS,
)
"""A line that is nothing but "Generated with [tool](address)", in whatever dress."""
_BULLET: Final = re.compile(r"[*-] (?P<subject>\S.*)")


def footer_evidence(lines: Iterable[str], *, where: str = "message") -> Iterator[AttributionEvidence]:
    """What single lines disclose. The strongest rule that matches a line tells for it."""
    rules = attribution_rules()
    for line in _parts(lines):
        if not line:
            continue
        if not rules.hinted(line):
            yield from _linked(line, where)
            continue
        start = _DECORATION.match(line)
        bare = line[start.end() :] if start else line
        for rule in rules.line:
            match = rule.regex.match(bare)
            if match:
                yield _told(rule, "footer", where, match[0])
                break
        else:
            yield from _linked(line, where)


def _linked(line: str, where: str) -> Iterator[AttributionEvidence]:
    """A tool by the form of its footer: one that we know by name, or one whose address is in ``.ai``."""
    match = _FOOTER.fullmatch(line) if "](http" in line and len(line) < _LONGEST else None
    if match is None:
        return
    known = named(match["name"].strip(" *_"), has_email=False)
    if known is None and not match["host"].lower().endswith(".ai"):
        return
    tool = known.tool if known else re.sub(r"\W+", "-", match["name"].strip().lower()).strip("-")
    yield AttributionEvidence(
        kind="footer",
        where=where,
        matched=match[0][:200],
        tool=tool or "ai",
        confidence="strong",
        role="assistant",
    )


def _parts(lines: Iterable[str]) -> Iterator[str]:
    """The lines, and what follows a robot in the middle of one ("Fix it <robot> Generated with ...")."""
    for line in lines:
        yield line
        before, robot, after = line.partition(_ROBOT)
        if robot and before.strip():
            yield after


def subject_evidence(message: Message) -> Iterator[AttributionEvidence]:
    """What the subject discloses, and the subjects that a squash merge lists as bullets."""
    if message.revert:
        return  # the quoted subject is that of the commit taken back
    subjects = [message.subject]
    subjects += [match["subject"] for line in message.lines if (match := _BULLET.fullmatch(line))]
    for rule in attribution_rules().subject:
        match = next((m for subject in subjects if (m := rule.regex.match(subject))), None)
        if match:
            yield _told(rule, "subject", "subject", match.string)


def _told(rule: TextRule, kind: str, where: str, text: str) -> AttributionEvidence:
    return AttributionEvidence(
        kind=kind,
        where=where,
        matched=text[:200],
        tool=rule.tool,
        confidence=rule.confidence,
        role=rule.role,
    )
