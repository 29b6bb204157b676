"""Writes trace lines within a budget (format: gate/trace/events.py). Standard library only."""

from __future__ import annotations

import json
import os
import time
from typing import Any

_FLUSH = 1 << 16
_CHEAP = frozenset(("open", "look"))
_LINE_UNIT = 512


class Writer:
    """Numbered, timed lines to one descriptor, buffered.

    Each kind of event has a budget of lines (``budget`` for the cheap kinds, a tenth for each other
    one; long lines count as several): one kind's flood never costs another kind's lines.
    """

    def __init__(self, out: int, budget: int) -> None:
        self._out = out
        self._all = budget
        self._left: dict[str, int] = {}
        self._size = 0
        self._seq = 0
        self.lines: list[str] = []
        self.events = self.dropped = 0
        self.t0 = time.monotonic()

    def spent(self, kind: str) -> bool:
        """True when not even a short line of the kind fits any more: decoding can be spared."""
        return self._left.get(kind, 1) <= 0

    def put(self, kind: str, rest: str) -> None:
        """One event; ``rest`` is its JSON without seq, t and the opening brace. Counted when dropped."""
        left = self._left.get(kind)
        if left is None:
            left = self._all if kind in _CHEAP else max(1000, self._all // 10)
        left -= 1 + len(rest) // _LINE_UNIT
        self._left[kind] = max(0, left)
        if left < 0:
            self.dropped += 1
            return
        self.events += 1
        self._write(rest)

    def line(self, kind: str, fields: dict[str, Any]) -> None:
        """The first and the last line: outside every budget."""
        self._write(f'"ev":"{kind}",' + json.dumps(fields, separators=(",", ":"))[1:])

    def _write(self, rest: str) -> None:
        line = f'{{"seq":{self._seq},"t":{time.monotonic() - self.t0:.6f},{rest}\n'
        self._seq += 1
        self.lines.append(line)
        self._size += len(line)
        if self._size >= _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Everything so far; blocks while the reader is slow, and the code waits with us."""
        if not self.lines:
            return
        data = memoryview("".join(self.lines).encode("ascii"))
        self.lines.clear()
        self._size = 0
        while data:
            data = data[os.write(self._out, data) :]
