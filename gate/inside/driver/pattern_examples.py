"""Texts that a regular expression matches, one for each of its ways.

A function that first asks whether its text has a form (``re.match("([+-])?([0-9]+)([DH])$", text)``) does
nothing with a text that has another. Its patterns are its own constants, or compiled ones that it names;
each is read by the parser of ``re`` itself, and each alternative and each letter of a small set is taken
once. A text counts only where the pattern then really matches it.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import types
import warnings
from typing import Any

_parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

MOST = 8
"""Texts for one function."""
_WAYS = 8
"""Ways through one part of a pattern."""
_LONGEST = 200
_PLACE = re.compile(r"[/\\\\~$`|<>]|:(?!\d)|\.[^\W\d]|\.\.|\d+(?:\.\d+){3}")
_SPECIAL = re.compile(r"[\\\[(*+?|^$]")
_ASKS = frozenset({"match", "fullmatch", "search", "findall", "finditer", "split", "sub", "compile"})
_CLASSES = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "g", "CATEGORY_NOT_DIGIT": "g"}
_CLASSES.update(CATEGORY_NOT_SPACE="g", CATEGORY_NOT_WORD=" ")
_USUAL = "g1G -_.,"
_WAYS_OF_SET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def of(function: Any) -> list[str]:
    """Texts that the patterns of a function match, the same ones each time. None that looks like a path, a
    command or an address: those would act through us.
    """
    bare = inspect.unwrap(function) if callable(function) else function
    code = getattr(bare, "__code__", None)
    if not isinstance(code, types.CodeType):
        return []
    found: list[str] = []
    for pattern in _patterns(code, getattr(bare, "__globals__", {})):
        found += [text for text in examples(pattern) if text not in found and not _PLACE.search(text)]
    return found[:MOST]


def _patterns(code: types.CodeType, names: dict[str, Any]) -> list[re.Pattern[str]]:
    given = [names.get(name) for name in code.co_names]
    found: list[re.Pattern[str]] = [
        one for one in given if type(one) is re.Pattern and isinstance(one.pattern, str)
    ]
    if _ASKS.isdisjoint(code.co_names):
        return []
    for constant in dict.fromkeys(code.co_consts):
        if type(constant) is str and len(constant) <= _LONGEST and _SPECIAL.search(constant):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found.append(re.compile(constant))
            except (re.error, RecursionError, OverflowError):
                continue
    return found[:4]


def examples(pattern: re.Pattern[str]) -> list[str]:
    """Texts that a pattern matches: one for each way, shortest means first."""
    if len(pattern.pattern) > _LONGEST:
        return []
    try:
        texts = _row(_parser.parse(pattern.pattern, pattern.flags), {})
    except (re.error, RecursionError, OverflowError, KeyError, TypeError, ValueError):
        return []
    return [text for text in dict.fromkeys(texts) if len(text) <= _LONGEST and pattern.search(text)]


def _row(parts: Any, groups: dict[int, str]) -> list[str]:
    """Ways through parts one behind the other. Each way of a part is taken once, with the first way of the
    others: not all of their combinations.
    """
    ways = [_part(code, value, groups) or [""] for code, value in parts]
    usual = [one[0] for one in ways]
    texts = ["".join(usual)]
    for at, one in enumerate(ways):
        texts += ["".join([*usual[:at], other, *usual[at + 1 :]]) for other in one[1:]]
    return texts[:_WAYS]


def _part(code: Any, value: Any, groups: dict[int, str]) -> list[str]:
    """Ways of one part, the usual one first."""
    name = str(code)
    if name == "LITERAL":
        return [chr(value)]
    if name in ("ANY", "NOT_LITERAL"):
        return [next(one for one in _USUAL if name == "ANY" or one != chr(value))]
    if name == "CATEGORY":
        return [_CLASSES[str(value)]]
    if name == "IN":
        return _one_of(value)
    if name == "BRANCH":
        return [text for branch in value[1] for text in _row(branch, groups)][:_WAYS]
    if name == "SUBPATTERN":
        texts = _row(value[-1], groups)
        groups[value[0]] = texts[0]
        return texts
    if name == "ATOMIC_GROUP":
        return _row(value, groups)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inside = value
        times = min(max(int(least), 1), int(most), _LONGEST)
        texts = [text * times for text in _row(inside, groups)]
        return texts if least else [*texts, ""]
    if name == "GROUPREF":
        return [groups.get(value, "")]
    if name == "GROUPREF_EXISTS":
        return _row(value[1], groups)
    return [""]  # places and looks ahead: what they ask is looked at by matching


def _one_of(members: list[Any]) -> list[str]:
    """One character of a set; of a small set, each."""
    if str(members[0][0]) == "NEGATE":
        return [
            next((one for one in _USUAL + _WAYS_OF_SET if not any(_holds(m, one) for m in members[1:])), "g")
        ]
    single = [chr(value) for code, value in members if str(code) == "LITERAL"]
    spans = [(chr(value[0]), chr(value[1])) for code, value in members if str(code) == "RANGE"]
    classes = [_CLASSES[str(value)] for code, value in members if str(code) == "CATEGORY"]
    usual = [one for one in "g1G" if any(_holds(member, one) for member in members)]
    ranges = [first for first, last in spans if not (usual and first <= usual[0] <= last)]
    return list(dict.fromkeys([*usual[:1], *classes, *single, *ranges]))[:_WAYS]


def _holds(member: Any, one: str) -> bool:
    code, value = member
    if str(code) == "LITERAL":
        return bool(ord(one) == value)
    if str(code) == "RANGE":
        return bool(value[0] <= ord(one) <= value[1])
    if str(code) == "CATEGORY":
        word = one.isalnum() or one == "_"
        plain = {"DIGIT": one.isdigit(), "SPACE": one.isspace(), "WORD": word}
        asked = str(value).removeprefix("CATEGORY_")
        return plain.get(asked.removeprefix("NOT_"), False) != asked.startswith("NOT_")
    return False
