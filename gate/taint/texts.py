"""Texts that are put together: what stands in them decides what their parts can do."""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex
from gate.taint.values import BUILT, HTML, NOTHING, SQL, TAIL, Value, joined


def built(values: list[Value]) -> Value:
    """A text of these pieces: those behind a beginning that names a host or a folder cannot change it."""
    closed = bool(values) and is_closed(values[-1])
    if all(value.const is not None and not value.atoms for value in values):
        return Value(const="".join(value.const or "" for value in values)) if values else NOTHING
    start = ""
    for value in values:
        if value.const is None or value.atoms:
            break
        start += value.const
    text = " ".join(value.const for value in values if value.const)
    marks = {BUILT} | ({HTML} if is_markup(text) else set()) | ({SQL} if _QUERY.search(text) else set())
    found: list[Value] = []
    fixed = _is_fixed(start)
    opened = False
    for index, value in enumerate(values):
        own = set(marks)
        if index and (fixed or (opened and not values[0].atoms)):
            own.add(TAIL)
        if index and not values[0].atoms and values[0].const is None:
            own.add("redirect")
        if value.const is not None and index and "/" in value.const and values[0].const is None:
            opened = True
        if value.whole():
            found.append(Value(value.whole()).tagged(*own))
    return Value(joined(found).atoms, const=None, closed=closed) if found or closed else NOTHING


def is_closed(value: Value) -> bool:
    """Does this text end with a separator?"""
    if value.const is not None:
        return value.const.endswith(("/", "\\", "?", "#"))
    return value.closed or _SEPARATOR.search(value.path) is not None


_SEPARATOR: Final = regex(
    r"(?:^|[._])(?:sep(?:arator)?(?:char)?|(?:path)?separator|alt_separator|directorysep\w*"
    r"|directory_separator|ds)(?:\(\))?\Z",
    re.IGNORECASE,
)


_QUERY: Final = regex(
    r"\b(?:select|insert\s+into|update|delete\s+from|where|from|order\s+by|values|like|limit|union|join|set|drop|alter)\b"
    r"|=\s*'?\Z|[<>]=?\s*'?\Z",
    re.IGNORECASE,
)


def is_markup(text: str) -> bool:
    """Does this text hold a tag?"""
    at = text.find("<")
    while at >= 0:
        if text[at + 1 : at + 2].isalpha() or text[at + 1 : at + 2] in "/!":
            return at + 1 < len(text)
        at = text.find("<", at + 1)
    return False


def _is_fixed(start: str) -> bool:
    start = start.removeprefix("redirect:")
    scheme, sign, rest = start.partition("://")
    if sign and scheme:
        return "/" in rest or "?" in rest
    return len(start) > 1 and start[0] == "/" and start[1] not in "/\\"
