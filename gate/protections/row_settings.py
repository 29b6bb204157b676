"""How long a database keeps whose rows are shown: for one transaction, or for the next one, too.

Row-level security asks a setting of the connection (``app.tenant``), and pools hand connections on. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.protections.facts import Strength
from gate.protections.strengths import kept

_KEPT: Final = "life of a setting of the database"
_LONGEST: Final = 2_000
_TRUE: Final = ("true", "'t'", "'true'", "1", "t")


def row_strengths(text: str, line: int) -> Iterator[Strength]:
    """Of a text that may be SQL: ``set_config('app.tenant', ..., true)``, ``SET LOCAL app.tenant``."""
    low = text.lower()
    if len(text) > _LONGEST or "set" not in low:
        return
    if "set_config(" in low:
        given = low.partition("set_config(")[2].partition(")")[0].split(",")
        if len(given) == 3 and "." in given[0]:
            yield kept(_KEPT, given[2].strip() in _TRUE, text, line)
        return
    words = low.split()
    if words[:1] != ["set"] or len(words) < 3:
        return
    local = words[1] == "local"
    name = words[2] if words[1] in ("local", "session") else words[1]
    if ("." in name or name == "role") and ("=" in low or "to" in words or name == "role"):
        yield kept(_KEPT, local, text, line)
