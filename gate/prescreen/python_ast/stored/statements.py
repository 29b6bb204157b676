"""The tables and columns of an SQL statement: what it reads, and which placeholder goes into which column.

Words, signs and texts in their order, as far as ``SELECT``, ``INSERT`` and ``UPDATE`` go; what is not
understood is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.dataclass import dataclass
from gate.languages.script_guards.sql_grants import Word, words

_MOST: Final = 4_000
"""Characters of a statement that are read."""
_AFTER_TABLES: Final = frozenset(
    {
        "where",
        "group",
        "order",
        "limit",
        "having",
        "union",
        "on",
        "using",
        "set",
        "returning",
        "values",
        "select",
    }
)
ANY: Final = "*"
"""Every column."""


@dataclass(frozen=True, slots=True)
class Selected:
    """What a ``SELECT`` gives: its tables, and the names of its columns in their order (or ``*``)."""

    tables: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """One column of a table, and the placeholder that goes into it: its number, or its name."""

    table: str
    column: str
    slot: int | str


def selected(text: str) -> Selected | None:
    """What a query reads; None where the text is none."""
    told = list(words(text[:_MOST]))
    start = next((n for n, word in enumerate(told) if word.text == "select" and not word.is_text), None)
    if start is None:
        return None
    columns, at = _items(told, start + 1, frozenset({"from"}))
    tables = _tables(told, at)
    names = tuple(_name_of(item) for item in columns)
    return Selected(tables, names) if tables else None


def written(text: str) -> list[Written]:
    """The columns that a statement writes from placeholders."""
    told = list(words(text[:_MOST]))
    heads = [word.text for word in told[:4] if not word.is_text]
    if heads[:1] == ["update"]:
        return _updated(told)
    if "into" in heads and heads[0] in ("insert", "replace"):
        return _inserted(told)
    return []


def _inserted(told: Sequence[Word]) -> list[Written]:
    at = [word.text for word in told].index("into") + 1
    table, at = _table(told, at)
    if at >= len(told) or told[at].text != "(":
        return []
    columns, at = _items(told, at + 1, frozenset({")"}))
    while at < len(told) and told[at].text != "(":
        at += 1
    values, _ = _items(told, at + 1, frozenset({")"}))
    names = [_name_of(column) for column in columns]
    return _slots(table, list(zip(names, values, strict=False)))


def _updated(told: Sequence[Word]) -> list[Written]:
    table, at = _table(told, 1)
    if at >= len(told) or told[at].text != "set":
        return []
    items, _ = _items(told, at + 1, frozenset({"where", "returning", "from"}))
    pairs: list[tuple[str, list[Word]]] = []
    for item in items:
        equals = next((n for n, word in enumerate(item) if word.text == "=" and not word.is_text), None)
        if equals:
            pairs.append((_name_of(item[:equals]), item[equals + 1 :]))
    return _slots(table, pairs)


def _slots(table: str, pairs: Sequence[tuple[str, Sequence[Word]]]) -> list[Written]:
    found: list[Written] = []
    number = 0
    for column, value in pairs:
        for name in _placeholders(value):
            found.append(Written(table, column, name or number))
            number += not name
    return found


def _placeholders(value: Sequence[Word]) -> list[str]:
    """The names of the placeholders of one value; empty texts for those without a name."""
    found: list[str] = []
    for n, word in enumerate(value):
        behind = [other.text for other in value[n + 1 : n + 3]]
        if word.is_text:
            continue
        if word.text == "?" or (word.text == "%" and behind[:1] == ["s"]):
            found.append("")
        elif word.text == ":" and behind:
            found.append(behind[0])
        elif word.text == "%" and behind[:1] == ["("] and len(behind) == 2:
            found.append(behind[1])
    return found


def _items(told: Sequence[Word], at: int, ends: frozenset[str]) -> tuple[list[list[Word]], int]:
    """What stands between commas up to one of ``ends`` outside of brackets, and where that stands."""
    found: list[list[Word]] = [[]]
    depth = 0
    while at < len(told):
        word = told[at]
        plain = not word.is_text
        if plain and depth == 0 and word.text in ends:
            break
        depth += (word.text == "(") - (word.text == ")") if plain else 0
        if plain and depth == 0 and word.text == ",":
            found.append([])
        else:
            found[-1].append(word)
        at += 1
    return found, at + 1


def _name_of(item: Sequence[Word]) -> str:
    """The name under which a column is found: what stands last."""
    return item[-1].text if item else ""


def _table(told: Sequence[Word], at: int) -> tuple[str, int]:
    name = told[at].text if at < len(told) else ""
    while at + 2 < len(told) and told[at + 1].text == ".":
        at += 2
        name = told[at].text
    return name, at + 1


def _tables(told: Sequence[Word], at: int) -> tuple[str, ...]:
    found: list[str] = []
    expected = True
    while at < len(told):
        word = told[at].text
        if word in _AFTER_TABLES:
            expected = False
        elif word in ("join", "from") or (word == "," and found):
            expected = True
        elif expected and (word[:1].isalpha() or word[:1] == "_"):
            name, at = _table(told, at)
            found.append(name)
            expected = False
            continue
        if word in ("where", "group", "order", "limit"):
            break
        at += 1
    return tuple(dict.fromkeys(found))
