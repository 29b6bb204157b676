"""Evidence in whole lines of a message or a pull request's body: footers, session links, subjects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gate.attribution.book import TextRule, book
from gate.attribution.message import Message
from gate.model.attribution import AttributionEvidence

_DECORATION: Final = re.compile(r"[^\w\n<\[(]*")
_ROBOT: Final = "\N{ROBOT FACE}"
_BULLET: Final = re.compile(r"[*-] (?P<subject>\S.*)")


def footer_evidence(lines: Iterable[str], *, where: str = "message") -> Iterator[AttributionEvidence]:
    """What single lines disclose. The strongest rule that matches a line tells for it."""
    rules = book()
    for line in _parts(lines):
        if not line or not rules.hinted(line):
            continue
        start = _DECORATION.match(line)
        bare = line[start.end() :] if start else line
        for rule in rules.line:
            match = rule.regex.match(bare)
            if match:
                yield _told(rule, "footer", where, match[0])
                break


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
    for rule in book().subject:
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
