"""Regular expressions that are compiled when they are first used.

gate has some two thousand, and a check uses a part of them: compiled at import they cost a third of the
processor time of all imports. What stands at the top of a module (or in a table) is made by ``regex``; a
function that runs when somebody asks may compile as usual.
"""

from __future__ import annotations

import re
from typing import AnyStr, cast


def regex(text: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """As ``re.compile``, but a mistake in ``text`` is raised (re.error) when the pattern is first used.

    Its methods and attributes are those of the compiled pattern. It is no instance of ``re.Pattern``: call
    its methods, do not hand it to the functions of ``re``.
    """
    return cast("re.Pattern[AnyStr]", _Late(text, int(flags)))


class _Late:
    """Stands for a compiled pattern. What was asked of it once stays in its ``__dict__``."""

    pattern: str | bytes

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern, self._given = text, flags

    def __getattr__(self, name: str) -> object:
        value = getattr(re.compile(self.pattern, self._given), name)
        self.__dict__[name] = value
        return value

    def __repr__(self) -> str:
        return f"regex({self.pattern!r}, {self._given})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Late) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[object, tuple[str | bytes, int]]:
        return regex, (self.pattern, self._given)

    def _key(self) -> tuple[type, str | bytes, int]:
        return type(self.pattern), self.pattern, self._given
