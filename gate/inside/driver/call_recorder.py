"""Which of the calls that can act were made: a line can run in part (``live and os.system(...)``, a lambda,
an argument that raises), so it is the instruction that counts. Hints only, as in line_recorder.py.

What is asked of is a place in the text: the first line and column of a call and those behind its last
character. A call is made by the call instruction that ends where it ends. A value that is read or handed
on is loaded by the smallest instruction around it.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterable
from typing import Any

_MAKES = frozenset(("CALL", "CALL_KW", "CALL_FUNCTION_EX", "PRECALL"))
_CALLED = ("call", "make", "method")
"""Ways (SensitiveCall.way) of what is called."""
_KNOWN = hasattr(types.CodeType, "co_positions")
"""From 3.11 on an instruction knows its columns; before, nothing that was asked is confirmed."""
Spot = tuple[Any, int]
"""A code object and the offset of an instruction in it."""


class Calls:
    """Records for one child. ``wanted``: path to [line, column, last line, last column, way] of places."""

    def __init__(self, wanted: dict[str, Any]) -> None:
        self._wanted = wanted if _KNOWN else {}
        self._made: dict[str, set[int]] = {path: set() for path in self._wanted}
        self._told: dict[str, set[int]] = {}
        self._spots: dict[str, dict[Any, dict[int, set[int]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def learn(self, path: str, codes: Iterable[Any]) -> None:
        """Find the instructions of a file's own code that stand for what was asked."""
        if path in self._wanted and path not in self._spots:
            self._spots[path] = _spots(self._wanted[path], codes)

    def within(self, path: str, code: Any) -> dict[int, set[int]]:
        """The numbers of what was asked, by the offset of an instruction of this code object."""
        table = self._spots.get(path)
        return table.get(code, {}) if table else {}

    def at(self, path: str, code: Any, offset: int) -> None:
        """An instruction is about to be executed."""
        numbers = self.within(path, code).get(offset)
        if numbers:
            self._made[path] |= numbers

    def fields(self) -> dict[str, Any]:
        """``acted``: the numbers of what was asked that was made; empty lists count, too."""
        return {"acted": {path: sorted(made) for path, made in self._made.items()}} if self._wanted else {}

    def news(self) -> dict[str, Any]:
        """The same where it was not told before."""
        fresh = {p: sorted(made) for p, made in self._made.items() if self._told.get(p) != made}
        self._told = {path: set(made) for path, made in self._made.items()}
        return {"acted": fresh} if fresh else {}


def _spots(places: Any, codes: Iterable[Any]) -> dict[Any, dict[int, set[int]]]:
    called = {(place[2], place[3]): number for number, place in enumerate(places) if place[4] in _CALLED}
    loaded = [(number, tuple(place[:4])) for number, place in enumerate(places)]
    found: dict[int, list[Spot]] = {}
    smallest: dict[int, tuple[Any, list[Spot]]] = {}
    for code in codes:
        before: list[int] = []  # an instruction with a wide argument can be told by its first prefix
        for each in dis.get_instructions(code):
            if each.opname == "EXTENDED_ARG":
                before.append(each.offset)
                continue
            offsets, before = [*before, each.offset], []
            at = each.positions
            if at is None or at.end_lineno is None or at.lineno is None or at.end_col_offset is None:
                continue
            spots = [(code, offset) for offset in offsets]
            if each.opname in _MAKES and (at.end_lineno, at.end_col_offset) in called:
                found.setdefault(called[(at.end_lineno, at.end_col_offset)], []).extend(spots)
            start, end = (at.lineno, at.col_offset or 0), (at.end_lineno, at.end_col_offset)
            size = (end[0] - start[0], end[1] - start[1])
            for number, (line, column, last, behind) in loaded:
                if start <= (line, column) and (last, behind) <= end:
                    known = smallest.get(number)
                    if known is None or size < known[0]:
                        smallest[number] = (size, list(spots))
                    elif size == known[0]:
                        known[1].extend(spots)
    table: dict[Any, dict[int, set[int]]] = {}
    for number in range(len(places)):
        for code, offset in found.get(number) or smallest.get(number, (None, []))[1]:
            table.setdefault(code, {}).setdefault(offset, set()).add(number)
    return table
