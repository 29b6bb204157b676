"""Is a name another draw of the same chance, as mkstemp makes them: ``build.PZIfdX`` and ``build.Q2bxYz``?"""

from __future__ import annotations

import re
from typing import Final

_PARTS: Final = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]+")
_SHORTEST: Final = 5
_LONGEST: Final = 40


def alike(one: str, other: str) -> bool:
    """True when the two differ in words only that look drawn: of the same length, at most points different,
    and one of the two with digits among its letters or with capitals behind small ones.
    """
    mine, theirs = _PARTS.findall(one), _PARTS.findall(other)
    return len(mine) == len(theirs) and all(
        a == b or _drawn_anew(a, b) for a, b in zip(mine, theirs, strict=True)
    )


def _drawn_anew(a: str, b: str) -> bool:
    if len(a) != len(b) or not a[0].isalnum() or not b[0].isalnum():
        return False
    start = 0
    while a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    different = sum(x != y for x, y in zip(a, b, strict=True))
    return _SHORTEST <= len(a) <= _LONGEST and different * 4 >= len(a) * 3 and (_is_drawn(a) or _is_drawn(b))


def _is_drawn(word: str) -> bool:
    return bool(re.search(r"[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z]", word))
