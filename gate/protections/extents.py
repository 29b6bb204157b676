"""Which condition holds wherever another one holds: what makes two checks comparable that are written apart.

``path == "/admin"`` implies ``path.startswith("/admin")``; a check that now asks the first refuses less. Read
from the normal form of atoms (conditions.py), in the spellings of all languages. Pure.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import lru_cache
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.languages.naming import snake

_Kind = Literal["is", "begins", "ends", "holds"]
_CALLS: Final[dict[str, _Kind]] = {
    "startswith": "begins", "starts_with": "begins", "has_prefix": "begins", "start_with?": "begins",
    "start_with": "begins",
    "endswith": "ends", "ends_with": "ends", "has_suffix": "ends", "end_with?": "ends", "end_with": "ends",
    "includes": "holds", "contains": "holds", "equals": "is",
}  # fmt: skip
_SAME: Final = frozenset({
    "lower", "upper", "casefold", "strip", "rstrip", "lstrip", "to_lower_case", "trim", "to_string", "get",
    "removeprefix", "removesuffix", "str", "value", "trim_end", "to_lower", "data",
})  # fmt: skip
"""Names that say nothing of what is compared."""


@dataclass(frozen=True, slots=True)
class _Extent:
    """``subject`` is, begins or ends with, or holds one of ``texts``."""

    kind: _Kind
    subject: str
    texts: tuple[str, ...]


def covers(those: Collection[str], others: Collection[str]) -> bool:
    """Does every one of ``others`` hold where all of ``those`` hold?"""
    return all(any(implies(a, b) for a in those) for b in others)


@lru_cache(8192)
def implies(one: str, other: str) -> bool:
    """Does the atom ``other`` hold wherever ``one`` holds?"""
    if one == other:
        return True
    if not one or not other or one[0] != other[0]:
        return False
    inner, outer = _extent(one[1:]), _extent(other[1:])
    if inner is None or outer is None or inner.subject != outer.subject:
        return False
    if one[0] == "-":
        inner, outer = outer, inner
    return all(any(_within(inner.kind, a, outer.kind, b) for b in outer.texts) for a in inner.texts)


def _within(inner: _Kind, a: str, outer: _Kind, b: str) -> bool:
    """Is every text that ``inner`` ``a`` describes one that ``outer`` ``b`` describes?"""
    if outer == "is":
        return inner == "is" and a == b
    if outer == "begins":
        return inner in ("is", "begins") and a.startswith(b)
    if outer == "ends":
        return inner in ("is", "ends") and a.endswith(b)
    return b in a


@lru_cache(8192)
def _extent(condition: str) -> _Extent | None:
    """``host.endswith('.acme.example')``, ``'/admin' == path``, ``role in {'a', 'b'}``."""
    left, mark, right = condition.partition(" == ")
    if mark:
        texts = _texts(left) or _texts(right)
        subject = right if _texts(left) else left
        return _made("is", subject, texts)
    left, mark, right = condition.partition(" in ")
    if mark:
        if subject_texts := _texts(left):
            return _made("holds", right, subject_texts)
        return _made("is", left, _texts(right))
    called, mark, given = condition.partition("(")
    of, _, name = called.rpartition(".")
    kind = _CALLS.get(snake(name))
    if not mark or kind is None or not given.endswith(")"):
        return None
    given = given[:-1]
    if of.rpartition(".")[2] == "strings" or not of:  # Go: strings.HasPrefix(path, "/admin")
        of, _, given = given.partition(", ")
    return _made(kind, of, _texts(given))


def _made(kind: _Kind, subject: str, texts: tuple[str, ...]) -> _Extent | None:
    words = [word for part in _parts(subject) if (word := snake(part)) not in _SAME]
    return _Extent(kind, words[-1], texts) if words and texts else None


def _parts(subject: str) -> list[str]:
    """The names of ``request.path.rstrip('/')``; texts in it are left out."""
    plain = "".join(c if c.isalnum() or c in "_$" else " " for c in _without_texts(subject))
    return plain.split()


def _without_texts(text: str) -> str:
    kept, quote = "", ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"`":
            quote = c
        else:
            kept += c
    return kept


def _texts(source: str) -> tuple[str, ...]:
    """The texts that a literal holds: one, or those of a tuple, list or set."""
    try:
        value = ast.literal_eval(source.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    if isinstance(value, tuple | list | set | frozenset) and all(isinstance(one, str) for one in value):
        return tuple(sorted(value))
    return ()
