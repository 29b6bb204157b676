"""Writes trace lines within a budget (format: gate/tracing/events.py). Standard library only."""

from __future__ import annotations

import json
import os
from json.encoder import encode_basestring_ascii as quoted
from time import monotonic
from typing import Any

from .text import text_of

_FLUSH = 1 << 16
_CHEAP = frozenset(("open", "look"))
_PARTS = {"file": 3}
"""Of which part of the budget a kind has one; a tenth for the others. Installing packages makes, links and
renames some 100,000 files.
"""
_LINE_UNIT = 512
_OVERHEAD = 64  # numbers, time and what Python needs for an entry


class Writer:
    """Numbered, timed lines to one descriptor, buffered.

    Each kind of event has a budget of lines (``budget`` for the cheap kinds, a third for changes of files, a
    tenth for each other one; long lines count as several): one kind's flood never costs another kind's lines.
    """

    def __init__(self, out: int, budget: int) -> None:
        self._out = out
        self._all = budget
        self._left: dict[str, int] = {}
        self._size = 0
        self._seq = 0
        self._kept: list[tuple[float, str, bytes | None, str]] = []
        self.events = self.dropped = 0
        self.t0 = monotonic()

    def spent(self, kind: str) -> bool:
        """True when not even a short line of the kind fits any more: decoding can be spared."""
        return self._left.get(kind, 1) <= 0

    @property
    def waiting(self) -> bool:
        """Is there something that ``flush`` would write?"""
        return bool(self._kept)

    def put(self, kind: str, rest: str) -> None:
        """One event; ``rest`` is its JSON without seq, t and the opening brace. Counted when dropped."""
        if self._fits(kind, len(rest)):
            self._keep(rest, None, "", len(rest))

    def bare(self, kind: str, fields: dict[str, Any]) -> None:
        """One event that no call made."""
        self.put(kind, f'"ev":"{kind}",' + json.dumps(fields, separators=(",", ":"))[1:])

    def later(self, kind: str, head: str, path: bytes, tail: str) -> None:
        """The same, with the path between ``head`` and ``tail`` still to be made text of.

        All in one where nothing is special: somebody waits for us meanwhile.
        """
        size = len(head) + len(path) + len(tail)
        left = self._left.get(kind, 0)
        if size >= _LINE_UNIT or left < 1 or self._size + size + _OVERHEAD >= _FLUSH:
            if self._fits(kind, size):
                self._keep(head, path, tail, size)
            return
        self._left[kind] = left - 1
        self.events += 1
        self._kept.append((monotonic() - self.t0, head, path, tail))
        self._size += size + _OVERHEAD

    def _fits(self, kind: str, size: int) -> bool:
        left = self._left.get(kind)
        if left is None:
            left = self._all if kind in _CHEAP else max(1000, self._all // _PARTS.get(kind, 10))
        left -= 1 + size // _LINE_UNIT
        self._left[kind] = max(0, left)
        if left < 0:
            self.dropped += 1
            return False
        self.events += 1
        return True

    def line(self, kind: str, fields: dict[str, Any]) -> None:
        """The first and the last line: outside every budget."""
        self._keep(f'"ev":"{kind}",' + json.dumps(fields, separators=(",", ":"))[1:], None, "", 0)

    def _keep(self, head: str, path: bytes | None, tail: str, size: int) -> None:
        self._kept.append((monotonic() - self.t0, head, path, tail))
        self._size += size + _OVERHEAD
        if self._size >= _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Everything so far; blocks while the reader is slow, and the code waits with us."""
        if not self._kept:
            return
        first = self._seq
        self._seq += len(self._kept)
        text = "".join(
            f'{{"seq":{seq},"t":{at:.6f},{head}{tail if path is None else quoted(text_of(path)) + tail}\n'
            for seq, (at, head, path, tail) in enumerate(self._kept, first)
        )
        self._kept.clear()
        self._size = 0
        data = memoryview(text.encode("ascii"))
        while data:
            data = data[os.write(self._out, data) :]
