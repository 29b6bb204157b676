"""Which of the calls that can act were made: a line can run in part (``live and os.system(...)``, a lambda,
an argument that raises), so it is the instruction that counts. Hints only, as in driver_seen.py.
"""

from __future__ import annotations

import dis
import types
from typing import Any

_MAKES = frozenset(("CALL", "CALL_KW", "CALL_FUNCTION_EX", "PRECALL"))
_KNOWN = hasattr(types.CodeType, "co_positions")
"""From 3.11 on an instruction knows its columns; before, nothing is told, and lines have to do."""


class Calls:
    """Records for one child. ``wanted``: path to [line, column, last line, last column] of each call."""

    def __init__(self, wanted: dict[str, Any]) -> None:
        self._left: dict[str, set[Any]] = {}
        if _KNOWN:
            self._left = {path: {tuple(place) for place in places} for path, places in wanted.items()}
        self._lines = {path: {place[0] for place in places} for path, places in self._left.items()}
        self._codes: dict[tuple[str, Any], dict[int, Any]] = {}
        self._told: dict[str, set[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._left)

    def within(self, path: str, code: Any) -> dict[int, Any]:
        """The instructions of a code object that make such calls, by offset."""
        if path not in self._left:
            return {}
        known = self._codes.get((path, code))
        if known is None:
            places = self._left[path]
            known = {
                each.offset: place
                for each in dis.get_instructions(code)
                if each.opname in _MAKES and (place := _place(each)) in places
            }
            self._codes[(path, code)] = known
        return known

    def at(self, path: str, code: Any, offset: int) -> None:
        """An instruction is about to be executed."""
        place = self.within(path, code).get(offset)
        if place is not None:
            self._left[path].discard(place)

    def fields(self) -> dict[str, Any]:
        """``acted``: lines on which all such calls that begin there were made; empty lists count, too."""
        return {"acted": {path: sorted(self._made(path)) for path in self._left}} if self._left else {}

    def news(self) -> dict[str, Any]:
        """The same where it was not told before."""
        now = {path: self._made(path) for path in self._left}
        fresh = {path: sorted(lines) for path, lines in now.items() if self._told.get(path) != lines}
        self._told = now
        return {"acted": fresh} if fresh else {}

    def _made(self, path: str) -> set[int]:
        return self._lines[path] - {place[0] for place in self._left[path]}


def _place(instruction: Any) -> Any:
    at = instruction.positions
    return (at.lineno, at.col_offset, at.end_lineno, at.end_col_offset)
