"""Regular expressions of a file: where they stand, and which ones a text can make slow.

The look at a pattern is a plain reading of its parse (Python's own, ``re._parser``), nothing is matched.
Background: Weideman and others, "Analyzing Matching Time Behavior of Backtracking Regular Expression
Matchers by Using Ambiguity of NFA", 2016. We take the two shapes that matter: a repeat inside a repeat
that can share its text in many ways (exponential), and three or more repeats in a row over the same
characters (cubic).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any, Final

from gate.prescreen.python_ast.module import Module

try:
    from re import _constants as codes  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10 and older call them so
    import sre_constants as codes
    import sre_parse as parser

FUNCTIONS: Final = (
    *(
        "re.compile",
        "re.match",
        "re.search",
        "re.fullmatch",
        "re.findall",
        "re.finditer",
        "re.split",
        "re.sub",
    ),
    *("re.subn", "regex.compile", "regex.match", "regex.search", "regex.fullmatch"),
)
_LONGEST = 2000
_ALL = frozenset(range(256))
_MANY = 3
_CATEGORY = {
    "CATEGORY_DIGIT": frozenset(range(48, 58)),
    "CATEGORY_SPACE": frozenset(b" \t\n\r\f\v"),
    "CATEGORY_WORD": frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
}


def patterns(module: Module) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Every call that takes a regular expression, with the expression."""
    for call, _ in module.calls(*FUNCTIONS):
        pattern = module.arg(call, 0, "pattern")
        if pattern is not None:
            yield call, pattern


def slow(text: str) -> str | None:
    """``exponential`` or ``cubic`` when a text can make the pattern slow, else None."""
    if len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(text)
        if _exponential(tree, followed=False, depth=0):
            return "exponential"
        if _cubic(tree):
            return "cubic"
    except (re.error, RecursionError, OverflowError, ValueError):
        return None
    return None


def _name(op: object) -> str:
    return str(op)


def _exponential(items: Any, *, followed: bool, depth: int) -> bool:
    """A repeat in a repeat whose text can be shared in many ways, with something after it that can fail."""
    if depth > 30:
        return False
    listed = list(items)
    for index, (op, value) in enumerate(listed):
        after = followed or _can_fail(listed[index + 1 :])
        name = _name(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            _, most, body = value
            if most == codes.MAXREPEAT and after and _ambiguous(list(body)):
                return True
            if _exponential(body, followed=after or most != 1, depth=depth + 1):
                return True
        elif (name == "SUBPATTERN" and _exponential(value[3], followed=after, depth=depth + 1)) or (
            name == "BRANCH" and any(_exponential(b, followed=after, depth=depth + 1) for b in value[1])
        ):
            return True
    return False


def _can_fail(rest: list[Any]) -> bool:
    return any(_name(op) not in ("MAX_REPEAT", "MIN_REPEAT") or value[0] > 0 for op, value in rest)


def _flat(items: list[Any], depth: int = 0) -> list[Any]:
    """Groups opened, so that their content stands in the row."""
    out: list[Any] = []
    for op, value in items:
        if _name(op) == "SUBPATTERN" and depth < 20:
            out.extend(_flat(list(value[3]), depth + 1))
        else:
            out.append((op, value))
    return out


def _ambiguous(body: list[Any]) -> bool:
    """Inside a repeat: one unbounded repeat with nothing beside it that tells two rounds apart."""
    row = [item for item in _flat(body) if _name(item[0]) != "AT"]
    for index, (op, value) in enumerate(row):
        if _name(op) not in ("MAX_REPEAT", "MIN_REPEAT") or value[1] != codes.MAXREPEAT:
            continue
        inner = _characters(list(value[2]))
        others = row[:index] + row[index + 1 :]
        if inner and all(_optional(item) or inner >= _characters([item]) for item in others):
            return bool(inner)
    return False


def _optional(item: Any) -> bool:
    op, value = item
    return _name(op) in ("MAX_REPEAT", "MIN_REPEAT") and value[0] == 0


def _cubic(items: Any) -> bool:
    """Three or more unbounded repeats in a row, all within the first one's characters, before an end."""
    row = _flat(list(items))
    anchored = bool(row) and _name(row[-1][0]) == "AT" and "END" in _name(row[-1][1])
    if not anchored:
        return False
    for start, (op, value) in enumerate(row):
        if _name(op) != "MAX_REPEAT" or value[1] != codes.MAXREPEAT:
            continue
        first = _characters(list(value[2]))
        if not first or first == _ALL:
            continue
        count = 1
        for item in row[start + 1 : -1]:
            if not _characters([item]) <= first:
                break
            count += _unbounded(item)
        else:
            if count >= _MANY:
                return True
    return False


def _unbounded(item: Any) -> int:
    op, value = item
    if _name(op) not in ("MAX_REPEAT", "MIN_REPEAT"):
        return 0
    own = int(value[1] == codes.MAXREPEAT)
    return own or sum(_unbounded(inner) for inner in _flat(list(value[2])))


def _characters(items: list[Any], depth: int = 0) -> frozenset[int]:
    """All characters (of the first 256) that can stand anywhere in these items."""
    if depth > 20:
        return _ALL
    out: set[int] = set()
    for op, value in items:
        name = _name(op)
        if name == "LITERAL":
            out.add(min(value, 255))
        elif name in ("ANY", "NOT_LITERAL"):
            out |= _ALL
        elif name == "IN":
            out |= _class(value)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            out |= _characters(list(value[2]), depth + 1)
        elif name == "SUBPATTERN":
            out |= _characters(list(value[3]), depth + 1)
        elif name == "BRANCH":
            for branch in value[1]:
                out |= _characters(list(branch), depth + 1)
    return frozenset(out)


def _class(parts: Any) -> frozenset[int]:
    out: set[int] = set()
    negated = False
    for op, value in parts:
        name = _name(op)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            out.add(min(value, 255))
        elif name == "RANGE":
            out.update(range(min(value[0], 255), min(value[1], 255) + 1))
        elif name == "CATEGORY":
            kind = _name(value)
            out |= _CATEGORY.get(kind) or (_ALL - _CATEGORY.get(kind.replace("_NOT", ""), frozenset()))
    return frozenset(_ALL - out) if negated else frozenset(out)
