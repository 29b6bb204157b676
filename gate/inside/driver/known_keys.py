"""Keys of what an application holds from its start: a handler that looks an object up answers 404 for ours.

Read from the tables (dictionaries, lists of records) of the tree's loaded modules. Nothing is called.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

MOST = 24
"""Keys that are tried."""
_TABLES = 400
_EACH = 6
_LONGEST = 40
_NAMES = ("id", "pk", "key", "slug", "name", "number", "code", "uuid")


def known_keys(place: str) -> list[str]:
    """Numbers and short words by which the modules below a folder keep something, as text."""
    found: dict[str, None] = {}
    for table in tables(os.path.join(os.path.realpath(place), "")):
        for key in _keys(table):
            found[key] = None
        if len(found) >= MOST:
            break
    return list(found)[:MOST]


def tables(place: str) -> Iterator[Any]:
    """Containers that modules hold, and that objects hold which modules hold."""
    count = 0
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not os.path.realpath(file).startswith(place):
            continue
        for name, value in list(vars(module).items()):
            if name.startswith("__"):
                continue
            inner = getattr(value, "__dict__", None) if not isinstance(value, type) else None
            held = list(inner.values()) if type(inner) is dict and not hasattr(value, "__path__") else []
            for one in (value, *held[:_EACH]):
                if type(one) in (dict, list, tuple) and one:
                    count += 1
                    yield one
                if count > _TABLES:
                    return


def _keys(table: Any) -> Iterator[str]:
    for one in list(table)[:_EACH]:
        if isinstance(table, dict):
            yield from _text(one)
        else:
            kept = fields_of(one)
            yield from (text for name in _NAMES if name in kept for text in _text(kept[name]))


def fields_of(record: Any) -> dict[Any, Any]:
    """What a record holds, a dictionary or an object; empty for anything else."""
    kept = record if type(record) is dict else getattr(record, "__dict__", None)
    return kept if type(kept) is dict else {}


def _text(key: Any) -> Iterator[str]:
    if type(key) is int or (
        type(key) is str and 0 < len(key) <= _LONGEST and key.isprintable() and "/" not in key
    ):
        yield str(key)
