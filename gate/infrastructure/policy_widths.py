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
    for operator, tests in conditions.items() if isinstance(conditions, dict) else ():
        for variable, values in tests.items() if isinstance(tests, dict) else ():
            about = f"{subject} condition {variable}"
            text = f"{operator} {variable}: {', '.join(sorted(flat(values)))}"[:120]
            yield Fact("guard", "condition", about, line, text)
            negative = "not" in operator.lower()
            if not negative:
                yield Width("trusted", about, line, text, members=sorted(flat(values)))
            ignoring = operator.lower().endswith("ifexists")
            yield Width("weaker", about, line, text, measure=1.0 if ignoring else 0.0)


def flat(value: object) -> set[str]:
    """Every text in a value of lists and mappings."""
    if isinstance(value, dict):
        return {text for one in value.values() for text in flat(one)}
    if isinstance(value, list):
        return {text for one in value for text in flat(one)}
    return {value} if isinstance(value, str) else set()
