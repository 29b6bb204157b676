"""Older levels of a language, and switches that bring a weaker behaviour back, by one table.

No line of the program changes: its loops, its parsers and its TLS do.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from gate.regex import regex
from gate.resources import rules_dir

_LONGEST: Final = 500
_COMMENT: Final = regex(r"^\s*(?:#(?!!)|//(?!go:)|\*|--|;|<!--)")
_MOST: Final = 20


class Lowered(NamedTuple):
    """One line of head. ``what``: the switch, or the level; ``was``: the level of base."""

    name: str
    what: str
    line: int
    why: str
    is_grave: bool
    was: str = ""


class _Row(NamedTuple):
    name: str
    files: re.Pattern[str]
    said: re.Pattern[str]
    why: str
    is_grave: bool
    beside: re.Pattern[str] | None
    least: tuple[int, ...]


class _Table(NamedTuple):
    switches: tuple[_Row, ...]
    levels: tuple[_Row, ...]
    gone: tuple[_Row, ...]


@cache
def _table() -> _Table:
    data = tomllib.loads((rules_dir() / "compatibility.toml").read_text(encoding="utf-8"))
    return _Table(*(tuple(_row(one) for one in data[key]) for key in ("switch", "level", "gone")))


def _row(one: dict[str, Any]) -> _Row:
    return _Row(
        name=one["name"],
        files=regex(one["files"], re.IGNORECASE),
        said=regex(one["said"]),
        why=one["why"],
        is_grave=one.get("severity") != "low",
        beside=regex(one["beside"], re.MULTILINE | re.IGNORECASE) if "beside" in one else None,
        least=_number(one.get("least", "")),
    )


def is_read(path: str) -> bool:
    """Does the table say anything of such a file?"""
    return any(row.files.search(path) for rows in _table() for row in rows)


def lowered(path: str, head: str, base: str | None) -> Iterator[Lowered]:
    """What head of one file brings back that base's does not have."""
    table = _table()
    had = set((base or "").split("\n"))
    lines = [(number, line[:_LONGEST]) for number, line in enumerate(head.split("\n"), 1) if line not in had]
    for row in table.switches:
        if not row.files.search(path) or (row.beside and not row.beside.search(head)):
            continue
        for number, line in lines:
            match = None if _COMMENT.match(line) else row.said.search(line)
            what = match["what"] if match is not None else ""
            if what and what not in (base or ""):
                yield Lowered(row.name, what[:120], number, row.why, row.is_grave)
    for row in table.levels if base else ():
        if row.files.search(path) and (found := _fallen(row, head, base or "")):
            yield found
    for row in table.gone if base else ():
        if row.files.search(path) and row.said.search(base or "") and not row.said.search(head):
            yield Lowered(row.name, "strict_types", 1, row.why, row.is_grave, "1")


def _fallen(row: _Row, head: str, base: str) -> Lowered | None:
    old, new = (
        [
            (number, match["level"])
            for number, line in enumerate(text.split("\n"), 1)
            if (match := row.said.search(line[:_LONGEST]))
        ]
        for text in (base, head)
    )
    if not new or (not old and not row.name.endswith(" file")):
        return None
    number, level = new[0]
    was = old[0][1] if old else ""
    now, then = _number(level), _number(was)
    if was and now >= then:
        return None
    if row.least and (now >= row.least or (was and then < row.least)):
        return None
    return Lowered(row.name, level, number, row.why, row.is_grave, was)


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d{1,6}", text))
