"""Statements of cloud policies by what they allow: to whom, on which condition, which grave actions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gate.infrastructure.facts import Fact, Width
from gate.regex import regex

_GRAVE: Final = regex(
    r"^\*$|:\*$|^iam:(?!get|list)|^sts:assume|^secretsmanager:get|^ssm:getparam|^ssm:(?:send|start)|^kms:(?:decrypt|creategrant)"
    r"|^lambda:(?:update|create|add)|^ec2:runinstances|^organizations:|:put\w*policy|:set\w*policy|:delete(?:bucket|db|table)",
    re.IGNORECASE,
)
_READING: Final = regex(r":(?:describe|list|get|head|batchget|view|search)", re.IGNORECASE)
REFERENCE: Final = regex(r"^(?:\$\{)?(?:data|var|local|module|each|self|[a-z]+_[a-z0-9_]+)\.")
"""Of Terraform: a value that stands elsewhere in the project."""


def statement_widths(statement: Mapping[str, object], subject: str, line: int) -> Iterator[Fact | Width]:
    """Of one statement that allows; its keys are lower case."""
    actions = flat(statement.get("action", statement.get("actions")))
    over = flat(statement.get("resource", statement.get("resources")))
    rights = [
        f"{action} {resource}"
        for action in sorted(actions)
        for resource in sorted(over) or [""]
        if _GRAVE.search(action) or (resource == "*" and not _READING.search(action))
    ]
    yield Width("more-rights", f"{subject} rights", line, ", ".join(rights)[:120], members=rights)
    whom = sorted(
        one
        for one in flat(statement.get("principal", statement.get("principals")))
        if not REFERENCE.match(one)
    )
    yield Width("trusted", f"{subject} principals", line, ", ".join(whom)[:120], members=whom)
    yield from _conditions(statement.get("condition"), subject, line)


def _conditions(conditions: object, subject: str, line: int) -> Iterator[Fact | Width]:
    if not isinstance(conditions, dict):
        return
    asked = _asked_for(conditions)
    for operator, tests in conditions.items():
        for variable, values in tests.items() if isinstance(tests, dict) else ():
            about = f"{subject} condition {variable}"
            text = f"{operator} {variable}: {', '.join(sorted(flat(values)))}"[:120]
            yield Fact("guard", "condition", about, line, text)
            lists = operator.lower() != "null" and "not" not in operator.lower()
            if lists:
                yield Width("trusted", about, line, text, members=sorted(flat(values)))
            loose = _says_nothing_of_absence(operator) and variable not in asked
            yield Width("weaker", about, line, text, measure=1.0 if loose else 0.0)


def holds_nobody(conditions: object) -> bool:
    """Is a statement's condition true of every request that lacks the keys, an anonymous one too?"""
    if not isinstance(conditions, dict) or not conditions:
        return True
    asked = _asked_for(conditions)
    return all(
        _says_nothing_of_absence(str(operator)) and isinstance(tests, dict) and not asked.intersection(tests)
        for operator, tests in conditions.items()
    )


def _says_nothing_of_absence(operator: str) -> bool:
    """``ForAllValues:...`` is true where the key is absent, as is ``...IfExists``."""
    low = operator.lower()
    return low.startswith("forallvalues:") or low.endswith("ifexists")


def _asked_for(conditions: Mapping[str, object]) -> set[str]:
    """Keys that have to be there: ``Null`` with *false*, and operators that fail without the key."""
    found: set[str] = set()
    for operator, tests in conditions.items():
        low = str(operator).lower()
        for variable, values in tests.items() if isinstance(tests, dict) else ():
            present = low == "null" and "false" in {one.lower() for one in flat(values)}
            positive = low != "null" and "not" not in low and not _says_nothing_of_absence(low)
            if present or positive:
                found.add(variable)
    return found


def all_but(statement: Mapping[str, object], subject: str, line: int) -> Iterator[Fact]:
    """An ``Allow`` that names what it does *not* mean: everybody else, or everything else, is allowed."""
    over = flat(statement.get("resource", statement.get("resources")))
    nobody = flat(statement.get("notprincipal", statement.get("not_principals")))
    if nobody:
        yield Fact("grant", "to-anybody", subject, line, f"Allow to all but {' '.join(sorted(nobody))[:80]}")
    actions = flat(statement.get("notaction", statement.get("not_actions")))
    if actions and "*" in over:
        yield Fact("grant", "all-but", subject, line, f"Allow all but {' '.join(sorted(actions))[:80]} on *")
    others = flat(statement.get("notresource", statement.get("not_resources")))
    if others and any(one.endswith("*") for one in flat(statement.get("action", statement.get("actions")))):
        yield Fact("grant", "all-but", subject, line, f"Allow on all but {' '.join(sorted(others))[:80]}")


def flat(value: object) -> set[str]:
    """Every text in a value of lists and mappings."""
    if isinstance(value, dict):
        return {text for one in value.values() for text in flat(one)}
    if isinstance(value, list):
        return {text for one in value for text in flat(one)}
    return {value} if isinstance(value, str) else set()
