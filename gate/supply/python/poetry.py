"""Poetry's own notation of dependencies (``[tool.poetry]``), turned into PEP 440 and PEP 508.

Source: Poetry's documentation, "Dependency specification" (caret, tilde, wildcard, multiple constraints).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from gate.regex import regex
from gate.supply.python.requirements import list_of, table_of, text_of

_NUMBERS: Final = regex(r"v?(\d+(?:\.\d+)*)(.*)\Z")


def versions(text: str) -> str:
    """PEP 440 for ``^1.2``, ``~1.2``, ``1.*`` or ``>=1,<2``; empty (any) where it has no single form (``||``)
    or is none.
    """
    parts = [part.strip() for part in re.split(r",|(?<=[\w*])\s+(?=[<>=!~^])", text) if part.strip()]
    if "|" in text or not parts:
        return ""
    made = ",".join(filter(None, (_one(re.sub(r"\s+", "", part)) for part in parts)))
    try:
        return str(SpecifierSet(made))
    except InvalidSpecifier:
        return ""


def _one(part: str) -> str:
    if part == "*":
        return ""
    if part[0] in "^~" and not part.startswith("~="):
        found = _NUMBERS.match(part[1:])
        if not found:
            return ""
        numbers = [int(n[:6]) for n in found[1].split(".")]
        return f">={part[1:]},<{'.'.join(map(str, _next(part[0], numbers)))}"
    return f"=={part}" if part[0].isdigit() else part


def _next(kind: str, numbers: list[int]) -> list[int]:
    """The first version that a caret or tilde does not take."""
    at = min(1, len(numbers) - 1)
    if kind == "^":
        at = next((n for n, number in enumerate(numbers) if number), len(numbers) - 1)
    return [*numbers[:at], numbers[at] + 1]


def lines(table: Mapping[str, object], *, optional: bool = False) -> Iterator[str]:
    """A table of dependencies as requirement lines, without Python itself. ``optional``: those marked as
    optional (an extra's), instead of the others.
    """
    for name, value in table.items():
        if name.lower() == "python":
            continue
        item: object = value
        if isinstance(value, list):  # one constraint for each Python: the installer may choose
            item = {**table_of(value[0] if value else {}), "version": "", "python": "", "markers": ""}
        details = table_of(item)
        if bool(details.get("optional")) is not optional:
            continue
        yield _line(
            name, text_of(item) if isinstance(item, str) else text_of(details.get("version")), details
        )


def _line(name: str, version: str, details: Mapping[str, object]) -> str:
    extras = [text_of(extra) for extra in list_of(details.get("extras"))]
    words = name + (f"[{','.join(extras)}]" if extras else "")
    origin = next((text_of(details[kind]) for kind in ("git", "path", "url") if kind in details), "")
    if origin:
        return f"{words} @ {origin}"
    marker = text_of(details.get("markers"))
    return f"{words}{versions(version)}" + (f" ; {marker}" if marker else "")
