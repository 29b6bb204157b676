"""Records of tables and lists, each by its own key: so that a value is compared with the one of the"
" same record.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gate.prescreen.identities.names import words_of
from gate.prescreen.identities.written import Written

_KEYS: Final = (
    "id", "pk", "uid", "uuid", "key", "code", "slug", "sku", "number", "no", "ref", "name", "label", "title",
    "region", "env", "environment", "stage", "country", "host", "supplier", "customer", "partner",
    "what", "type",
)  # fmt: skip
"""Fields that tell one record from another, the surest first."""
_MOST: Final = 20_000
_LONGEST: Final = 4_000


def row_of(record: object) -> str:
    """The key of one record of a list; empty where it has none. Of a fixture, its model as well."""
    if not isinstance(record, Mapping):
        return ""
    plain = {words_of(str(key)): value for key, value in record.items() if not isinstance(value, dict | list)}
    found = next((f"{name}={plain[name]}" for name in _KEYS if plain.get(name) not in (None, "")), "")
    return f"{plain.get('model', '')} {found}".strip()[:200]


def rows_in(
    value: object, path: tuple[str | int, ...] = (), row: str = ""
) -> dict[tuple[str | int, ...], str]:
    """The record of every value below lists, by the value's path."""
    found: dict[tuple[str | int, ...], str] = {}
    waiting: list[tuple[object, tuple[str | int, ...], str]] = [(value, path, row)]
    while waiting and len(found) < _MOST:
        one, at, of = waiting.pop()
        if isinstance(one, Mapping):
            waiting += [(below, (*at, key), of) for key, below in one.items()]
        elif isinstance(one, list):
            waiting += [(below, (*at, n), f"{of} {row_of(below)}".strip()) for n, below in enumerate(one)]
        elif of:
            found[at] = of
    return found


def table(text: str, path: str) -> Iterator[Written]:
    """The cells of a table with a header: the column is the name, the record's key the row."""
    separator = "\t" if path.lower().endswith((".tsv", ".tab")) else _separator(text)
    reader = csv.reader(text.splitlines()[:_MOST], delimiter=separator)
    try:
        header = next(reader, [])
        key = _column(header)
        for cells in reader:
            if len(cells) != len(header) or sum(map(len, cells)) > _LONGEST:
                continue
            for name, cell in zip(header, cells, strict=True):
                yield Written((name.strip(),), cell.strip(), reader.line_num, f"{header[key]}={cells[key]}")
    except csv.Error:
        return


def _separator(text: str) -> str:
    first = text.split("\n", 1)[0]
    return max(",;|\t", key=first.count)


def _column(header: Sequence[str]) -> int:
    """The column whose values tell the records apart; the first one where no name says so."""
    words = [words_of(name) for name in header]
    return next((words.index(name) for name in _KEYS if name in words), 0)
