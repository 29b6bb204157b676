"""One value that a file has written down, as the readers of every language hand it on."""

from __future__ import annotations

from typing import Final, NamedTuple

UNNAMED: Final = "()"
"""Stands in a path for an argument that has only a place."""


class Written(NamedTuple):
    """``path``: the names that lead to it, outermost first; no numbers of list entries. ``row``: which record
    of a table or a list it belongs to, by the record's own key.
    """

    path: tuple[str, ...]
    value: str
    line: int
    row: str = ""
