"""Is a name another draw of the same chance, as mkstemp makes them: ``build.PZIfdX`` and ``build.Q2bxYz``?"""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex

_PARTS: Final = regex(r"[\w*]+|[^\w*]+", re.ASCII)
_SHORTEST: Final = 5
_LONGEST: Final = 40


def is_random_variant(one: str, other: str) -> bool:
    """True when the two differ in words only that look drawn: of the same length, at most points different,
    and one of the two with digits or capitals in the midst of its letters.
    """
    mine, theirs = _PARTS.findall(one), _PARTS.findall(other)
    return len(mine) == len(theirs) and all(
        a == b or _drawn_anew(a, b) for a, b in zip(mine, theirs, strict=True)
    )


def _drawn_anew(a: str, b: str) -> bool:
    if "*" in a + b:  # numbers in it were replaced already
        return all("*" in word or (len(word) >= _SHORTEST and _is_drawn(word)) for word in (a, b))
    if len(a) != len(b):
        return False
    start = 0
    while a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    different = sum(x != y for x, y in zip(a, b, strict=True))
    return _SHORTEST <= len(a) <= _LONGEST and different * 4 >= len(a) * 3 and (_is_drawn(a) or _is_drawn(b))


def _is_drawn(word: str) -> bool:
    letters = re.search(r"[A-Za-z]", word)
    return bool(letters and (re.search(r"\d", word) or re.search(r"[a-z].*[A-Z]|[A-Z].*[A-Z].*[a-z]", word)))
