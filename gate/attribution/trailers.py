"""Evidence in trailers: ``Co-authored-by``, ``Assisted-by``, session and thread links.

Every line counts, not only git's last paragraph: squash merges leave trailers in the middle.
Folded lines are joined as git joins them. Hyphens and even the colon may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from gate.attribution.message import Message
from gate.attribution.people import Identity, identify, mentioned, named
from gate.attribution.rule_file import FLAGS, People, TrailerRule, attribution_rules
from gate.model.attribution import AttributionEvidence, Role
from gate.regex import regex

_TRAILER: Final = regex(
    # Emoji and bullets may stand before the key.
    r"[^\w\n<>\[(]*(?P<key>[A-Za-z][A-Za-z0-9 -]{1,40}?)[ \t]*:[ \t]*(?P<value>\S.*)"
)
_KERNEL: Final = regex(r"(?P<agent>[A-Za-z][\w .-]{0,40}):(?P<model>[A-Za-z0-9][\w./()-]*)(?:\s.*)?")
_ROBOT: Final = regex(r"[^@]*bot(?:\[bot\]|\])?@users\.noreply\.github\.com", FLAGS)
_SPLIT: Final = regex(r"\s*(?:,|;|\s&\s|\sand\s|\s\+\s)\s*(?![^()]*\))")


def trailer_evidence(message: Message) -> Iterator[AttributionEvidence]:
    """Everything trailers disclose, in order."""
    for key, first, folded in _trailers(message.lines):
        found = list(_one(key, folded))
        if not found and folded != first:
            # What is indented below need not belong to it: the line alone counts too.
            found = list(_one(key, first))
        yield from found
    rules = attribution_rules()
    for line in message.lines:
        if rules.hinted(line):
            yield from _without_colon(line)


def _one(label: str, text: str) -> Iterator[AttributionEvidence]:
    inner = _TRAILER.fullmatch(text)
    key, value = (inner["key"], inner["value"]) if inner and _credit(inner["key"]) else (label, text)
    yield from _tool_trailer(key, value)
    for pattern, rule in _people():
        if pattern.fullmatch(key):
            yield from _person_trailer(rule, key, value)
            return


def _trailers(lines: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """(key, value, value with continuation lines) of every line that has a trailer's form."""
    pending: tuple[str, str, str] | None = None
    for line in lines:
        match = _TRAILER.fullmatch(line)
        if match:
            if pending:
                yield pending
            pending = (match["key"], match["value"].strip(), match["value"].strip())
        elif pending and line[:1] in (" ", "\t") and line.strip():
            pending = (*pending[:2], f"{pending[2]} {line.strip()}"[:1000])
        elif pending:
            yield pending
            pending = None
    if pending:
        yield pending


def _credit(key: str) -> bool:
    """True for a key that names people: ``Unit tests: Assisted-by: Claude Code`` is meant so."""
    return any(pattern.fullmatch(key) for pattern, _ in _people())


def _tool_trailer(key: str, value: str) -> Iterator[AttributionEvidence]:
    for key_pattern, value_pattern, rule in _tools():
        if key_pattern.fullmatch(key) and value_pattern.fullmatch(value):
            yield AttributionEvidence(
                kind="trailer",
                where=key,
                matched=f"{key}: {value}"[:200],
                tool=(_tool_in(value) or rule.tool) if rule.tool == "ai" else rule.tool,
                confidence=rule.confidence,
                role=rule.role,
            )


def _tool_in(value: str) -> str | None:
    found = mentioned(value)
    return found.tool if found else None


def _person_trailer(rule: People, key: str, value: str) -> Iterator[AttributionEvidence]:
    credit = rule.key.startswith(("assisted", "generated"))
    person = _person(value)
    parts = [value] if person or not credit else _SPLIT.split(value)
    for part in parts:
        found = _who(part, credit=credit)
        if found and found.kind != "bot":
            yield _evidence(found, rule.role, key, part)


def _who(value: str, *, credit: bool) -> Identity | None:
    """``credit``: the trailer also serves for naming programs (``Assisted-by: Claude:opus-5 sparse``)."""
    person = _person(value)
    if person:
        found = identify(*person)
        if credit and (found is None or found.kind == "bot") and _ROBOT.fullmatch(person[1]):
            # What assists and is a robot is the tool itself.
            return Identity(tool="ai", kind="login", confidence="strong")
        return found
    found = named(value, has_email=False) or identify(value, "")
    if found or not credit:
        return found
    kernel = _KERNEL.fullmatch(value) if "//" not in value else None
    if kernel:
        agent = named(kernel["agent"], has_email=False)
        if agent or _is_model(kernel["model"]):
            return (
                agent or mentioned(kernel["model"]) or Identity(tool="ai", kind="name", confidence="strong")
            )
    return mentioned(value)


def _is_model(text: str) -> bool:
    """A model has a version in its name; a number alone is that of a bug or a line."""
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _person(value: str) -> tuple[str, str] | None:
    """(name, address) of ``Name <a@b>``, also without brackets; None when there is no single address."""
    at = value.rfind("@")
    start = max(value.rfind(mark, 0, at) for mark in " \t<(") + 1 if at > 0 else 0
    end = next((i for i in range(at, len(value)) if value[i] in " \t>)"), len(value))
    if at <= start or end == at + 1 or value[end:].strip(" \t>)"):
        return None
    return value[:start].strip(" \t,<("), value[start:end]


def _without_colon(line: str) -> Iterator[AttributionEvidence]:
    """``Co Authored By Claude Opus 4.6``, ``Generated by Copilot``, ``Spotted by Codex``."""
    match = _loose().match(line)
    if not match or ":" in match["key"]:
        return
    found = named(match["value"].rstrip(" .!"), has_email=False)
    if found is None and (person := _person(match["value"])):
        found = identify(*person)
    if found and found.kind != "bot":
        rule = next(rule for pattern, rule in _people() if pattern.fullmatch(match["key"]))
        yield _evidence(found, rule.role, match["key"], match["value"])


def _evidence(found: Identity, role: Role, key: str, value: str) -> AttributionEvidence:
    counts = role in ("author", "assistant")
    return AttributionEvidence(
        kind="trailer",
        where=key,
        matched=value[:200],
        tool=found.tool,
        confidence=found.confidence,
        role=found.role if found.role and counts else role,
    )


@cache
def _people() -> tuple[tuple[re.Pattern[str], People], ...]:
    return tuple((re.compile(rule.key, FLAGS), rule) for rule in attribution_rules().people)


@cache
def _tools() -> tuple[tuple[re.Pattern[str], re.Pattern[str], TrailerRule], ...]:
    return tuple(
        (re.compile(r.key, FLAGS), re.compile(r.value, FLAGS), r) for r in attribution_rules().trailer
    )


@cache
def _loose() -> re.Pattern[str]:
    keys = "|".join(
        rule.key for rule in attribution_rules().people if rule.role != "author" or "generated" in rule.key
    )
    return re.compile(rf"[^\w\n<>\[(]*(?P<key>{keys})[ \t]+(?P<value>\S.*)", FLAGS)
