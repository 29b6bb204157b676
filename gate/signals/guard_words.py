"""What the word for a guard's answer means: somebody is let in, refused, or neither.

A function that is not named for a guard is one all the same where a part of who asks decides: it answers when
that is the same as a part of what is asked for (``user.id`` and ``note.owner_id``), and refuses otherwise,
in whatever way: ``None``, ``False``, an exception of its own, 404.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from gate.plan.guard_names import REFUSING, is_named_guard, is_principal, says_no_with_true
from gate.regex import regex

_RAISED: Final = regex(r"raised (?P<names>.*?)(?P<status> status \d+)?(?P<said> said)?")
_ACCIDENTS: Final = frozenset({
    "TypeError", "AttributeError", "NameError", "ImportError", "AssertionError", "OSError", "RecursionError",
    "UnicodeError", "NotImplementedError", "ValidationError", "RuntimeError",
})  # fmt: skip
"""What a value that does not fit ends with; no refusal, whoever raises it."""
World = Mapping[str, Any]


class Row(NamedTuple):
    """One question, the word for its answer, and the paths that the guard looked at."""

    world: World
    word: str
    asked: frozenset[str]


class GuardWords:
    """The meaning of words of one function. ``rows``: all that it answered on both sides."""

    def __init__(self, name: str, rows: Iterable[Row]) -> None:
        every = list(rows)
        self.words = frozenset(row.word for row in every)
        self.named = is_named_guard(name)
        self._negative = says_no_with_true(name)
        self._lenient = self.named or any(
            _relates(row.world) and row.word in ("value", "true", "none", "through") for row in every
        )

    def refuse(self, word: str) -> bool:
        """Is somebody refused with that answer?"""
        return self._refuse(word, lenient=self._lenient)

    def refuse_openly(self, word: str) -> bool:
        """In so many words, or by a function that is named for it?"""
        return self._refuse(word, lenient=self.named)

    def _refuse(self, word: str, *, lenient: bool) -> bool:
        if word.startswith("raised "):
            return _refusing_exception(word, lenient=lenient)
        if re.fullmatch(r"status 40[134]", word):
            return not word.endswith("4") or lenient
        if not lenient:
            return False
        if self._negative:
            return word == "true"
        if word == "none":
            return "value" in self.words
        if word == "value":  # of a decorator that did not come to what it guards
            return "through" in self.words
        return word == "false"

    def accept(self, word: str) -> bool:
        """Is somebody let in with that answer?"""
        if self._negative and word in ("true", "false"):
            return word == "false"
        if word == "none":
            return self.words.isdisjoint(("value", "true", "false", "through"))
        if word == "value":
            return "through" not in self.words
        return word in ("true", "through") or bool(re.fullmatch(r"status 2\d\d", word))


def _refusing_exception(word: str, *, lenient: bool) -> bool:
    match = _RAISED.fullmatch(word)
    if match is None:
        return False
    names = match["names"].split()
    if match["status"]:
        status = match["status"].strip()
        return status in ("status 401", "status 403") or (status == "status 404" and lenient)
    if "OSError" in names:
        return bool(match["said"]) and names[0] == "PermissionError"
    if any(REFUSING.fullmatch(one) for one in names):
        return True
    return lenient and bool(match["said"]) and _ACCIDENTS.isdisjoint(names)


def _relates(world: World) -> bool:
    """Is a part of who asks the same as a part of something else?"""
    return any(
        isinstance(told, list)
        and told[:1] == ["same"]
        and _root(path) != _root(str(told[1]))
        and (is_principal(path) or is_principal(str(told[1])))
        for path, told in world.items()
    )


def _root(path: str) -> str:
    return re.split(r"[.\[( ]", path, maxsplit=1)[0]
