"""Evidence in whole lines of a message or a pull request's body: footers, session links, subjects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gate.attribution.message import Message
from gate.attribution.people import named
from gate.attribution.rule_file import FLAGS, TextRule, attribution_rules
from gate.model.attribution import AttributionEvidence
from gate.regex import regex

_DECORATION: Final = regex(r"[^\w\n<\[(]*")
_LONGEST: Final = 500
_ROBOT: Final = "\N{ROBOT FACE}"
_FOOTER: Final = regex(
    r"(?:[\W_]|<\w{1,6}>)*(?:generated|created|made|written|built|authored) (?:with|by|using|via)[\s*_]*"
    r"\[(?P<name>[^\[\]]{1,60})\]\(https?://(?P<host>[\w.-]{3,100})[^\s()]{0,200}\)(?:[\W_]|</\w{1,6}>)*",
    FLAGS,
)
"""A line that is nothing but "Generated with [tool](address)", in whatever dress."""
_NAMED: Final = regex(
    r"[\W_]*(?i:generated)[ -]with:? (?P<name>[A-Z][\w.-]{1,30}(?: [A-Z][\w.-]{1,30}){1,3})"
    r"(?::? \(?https?://[^\s()]{1,200})?[\W_]*"
)
"""The same without a link, or with a plain address: of a tool whose name says what it is."""
_PLAIN_SAYS: Final = regex(r"\b(?:ai|coder|copilot|assistant|llm)\b", FLAGS)
LINK: Final = "](http"
"""In every line that may be a footer of a tool that nobody knows."""
_SAYS: Final = regex(r"\b(?:ai|agent|coder|copilot|assistant|llm)\b", FLAGS)
_WITH: Final = regex(r"generated[ -]with", FLAGS)
_BULLET: Final = regex(r"[*-] (?P<subject>\S.*)")


def may_be_footer(message: str) -> bool:
    """True where a line may be the footer of a tool that no rule names."""
    return LINK in message or _WITH.search(message) is not None


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
    """A tool by the form of its footer: one that we know by name, one whose address is in ``.ai``, or one
    whose name says what it is.
    """
    if len(line) >= _LONGEST:
        return
    match = _FOOTER.fullmatch(line) if LINK in line else None
    if match is None:
        match = _NAMED.fullmatch(line) if _WITH.search(line) else None
        if match is None or not _PLAIN_SAYS.search(match["name"]):
            return
        yield _unnamed(match, where)
        return
    known = named(match["name"].strip(" *_"), has_email=False)
    if known is None and not match["host"].lower().endswith(".ai") and not _SAYS.search(match["name"]):
        return
    yield _unnamed(match, where, tool=known.tool if known else "")


def _unnamed(match: re.Match[str], where: str = "message", tool: str = "") -> AttributionEvidence:
    """Evidence of a footer whose tool is no entry of ours; its name is the tool's."""
    name = tool or re.sub(r"\W+", "-", match["name"].strip().lower()).strip("-")
    return AttributionEvidence(
        kind="footer",
        where=where,
        matched=match[0][:200],
        tool=name or "ai",
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
