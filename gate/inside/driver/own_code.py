"""Which code objects come from a file itself. ``code.replace(co_filename=...)`` says of any code that it is
from any line of any file; only code that compiling the file gives is believed. Hints only, as in
line_recorder.py.
"""

from __future__ import annotations

from typing import Any

from . import lazy_annotations


class OwnCode:
    """The code of one file, compiled once when first asked for: to look into a file earlier would put it into
    the trace as opened.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: dict[int, tuple[Any, bool]] = {}
        self._codes: set[Any] | None = None
        self._lazy = False

    def __contains__(self, code: Any) -> bool:
        known = self._known.get(id(code))
        if known is None:  # the object is kept, so that its id stays its own
            known = self._known[id(code)] = (code, code in self.codes())
        return known[1]

    def codes(self) -> set[Any]:
        """All code objects of the file; none where it cannot be compiled (JavaScript, a broken file)."""
        if self._codes is None or self._lazy != bool(lazy_annotations.ALLOWED):
            self._lazy = bool(lazy_annotations.ALLOWED)
            self._codes = set()
            try:
                with open(self._path, "rb") as file:
                    text = file.read()
                todo: list[Any] = [
                    compile(text, self._path, "exec", flags=flags, dont_inherit=True)
                    for flags in (0, lazy_annotations.FLAG)[: 1 + self._lazy]
                ]
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                todo = []
            while todo:
                code = todo.pop()
                self._codes.add(code)
                todo += [constant for constant in code.co_consts if hasattr(constant, "co_code")]
        return self._codes
