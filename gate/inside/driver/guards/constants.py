"""What the code of a guard holds ready: constants, and the values of names that it reads."""

from __future__ import annotations

import enum
import inspect
import re
import types
from collections.abc import Iterable, Iterator
from typing import Any

from .. import pattern_examples

ADDRESSES = (
    *("127.0.0.1", "::1", "0.0.0.0", "::", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1"),
    *("169.254.169.254", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    *("192.0.0.1", "198.18.0.1", "203.0.113.1", "224.0.0.1", "ff02::1", "240.0.0.1", "255.255.255.255"),
)
"""One of each block that IANA's registries of special addresses name; nothing is sent to them."""
MOST = 16
_EACH = 12
_LONGEST = 120
_WORDS = 4
"""Blanks in a text beyond which it is for people."""


def constants_of(codes: Iterable[tuple[types.CodeType, dict[str, Any]]]) -> list[Any]:
    """Texts and numbers, what stands in tables first: those are looked up by a digest, so that no comparison
    tells them. For code that reads addresses one of each kind. ``codes``: with the names of their modules.
    """
    tables: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    reads_addresses = False
    for code, names in codes:
        reads_addresses = reads_addresses or any(
            getattr(names.get(name), "__name__", "") == "ipaddress"
            or getattr(names.get(name), "__module__", "") == "ipaddress"
            for name in code.co_names
        )
        for value in code.co_consts:
            _take(value, tables, rest)
        for value in _named(code, names):
            _take(value, tables, rest)
        for text in _matched(code, names):
            rest.setdefault(repr(text), text)
    found = [*tables.values(), *rest.values()][:MOST]
    return [*found, *(one for one in ADDRESSES if reads_addresses and one not in found)]


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
