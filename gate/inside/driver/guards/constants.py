"""What the code of a guard holds ready: constants, and the values of names that it reads."""

from __future__ import annotations

import enum
import inspect
import re
import types
from collections.abc import Iterable, Iterator
from typing import Any

from .. import pattern_examples

MOST = 16
_EACH = 12
_LONGEST = 120
_WORDS = 4
"""Blanks in a text beyond which it is for people."""


def constants_of(codes: Iterable[tuple[types.CodeType, dict[str, Any]]]) -> list[Any]:
    """Texts and numbers, what stands in tables first: those are looked up by a digest, so that no comparison
    tells them. ``codes``: with the names of their modules.
    """
    tables: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for code, names in codes:
        for value in code.co_consts:
            _take(value, tables, rest)
        for value in _named(code, names):
            _take(value, tables, rest)
        for text in _matched(code, names):
            rest.setdefault(repr(text), text)
    return [*tables.values(), *rest.values()][:MOST]


def _named(code: types.CodeType, names: dict[str, Any]) -> Iterator[Any]:
    """Values of the names of a module that the code reads, and of attributes of them."""
    for name in code.co_names:
        value = names.get(name)
        yield value
        if isinstance(value, types.ModuleType) or (value is not None and not callable(value)):
            for inner in code.co_names:
                try:
                    yield inspect.getattr_static(value, inner)
                except AttributeError:
                    continue


def _take(value: Any, tables: dict[str, Any], rest: dict[str, Any]) -> None:
    if isinstance(value, type) and issubclass(value, enum.Enum):
        for one in list(value)[:_EACH]:
            _plain(one.name, tables)
            _plain(one.value, tables)
    elif type(value) in (set, frozenset):
        for one in sorted(value, key=repr)[:_EACH]:
            _plain(one, tables)
    elif type(value) in (list, tuple, dict):
        for one in list(value)[:_EACH]:
            _plain(one, tables)
        if type(value) is dict:
            for one in list(value.values())[:_EACH]:
                _plain(one, rest)
    else:
        _plain(value, rest)


def _plain(value: Any, found: dict[str, Any]) -> None:
    text = type(value) is str and 0 < len(value) <= _LONGEST and "\n" not in value
    if (text and value.count(" ") < _WORDS) or (type(value) is int and abs(value) > 1):
        found.setdefault(repr(value), value)


def _matched(code: types.CodeType, names: dict[str, Any]) -> list[str]:
    """Texts that its patterns match, and the same with more around them."""
    if not any(type(names.get(name)) is re.Pattern for name in code.co_names) and "re" not in code.co_names:
        return []
    try:
        texts = pattern_examples.of(types.FunctionType(code, names)) if not code.co_freevars else []
    except Exception:
        return []
    return [
        one
        for text in texts[:3]
        for one in (text, text + "\n", f"gate{text}", f"{text}gate", f"gate\n{text}")
    ]
