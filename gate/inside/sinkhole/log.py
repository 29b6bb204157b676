"""The sinkhole's own log: one JSON object a line, read strictly by gate/tracing/readers/sinkhole.py.

Bytes are base64. What does not fit the budget is counted, never silently lost; the last line is a summary.
"""

from __future__ import annotations

import base64
import json
import os
import time
from typing import Any

VERSION = 1
_BULKY = ("data", "udp")
KEEP = 64 << 10
_RESERVE = 4 << 20
"""Bytes of the budget that floods of content cannot take from what is told about connections."""


class Log:
    """Writes lines to a descriptor within ``budget`` bytes."""

    def __init__(self, fd: int, budget: int) -> None:
        self._fd = fd
        self._left = self._budget = budget
        self._seq = 0
        self._start = time.monotonic()
        self.dropped = 0
        """Lines that are missing."""
        self.cut = 0
        """Lines or connections of whose bytes only the beginning was kept."""

    @property
    def keep(self) -> int:
        """Bytes of one connection worth keeping; fewer when half of the room is gone."""
        return KEEP if self._left > self._budget // 2 else KEEP // 64

    def start(self) -> None:
        """The first line."""
        self._write({"ev": "start", "version": VERSION})

    def say(self, kind: str, **fields: Any) -> bool:
        """One line; False when there was no room for it."""
        for name, value in fields.items():
            if isinstance(value, bytes):
                fields[name] = base64.b64encode(value).decode("ascii")
        size = 64 + sum(len(value) if isinstance(value, str) else 40 for value in fields.values())
        if size > self._left - (_RESERVE if kind in _BULKY else 0):
            if kind in _BULKY:
                self.cut += 1
            else:
                self.dropped += 1
            return False
        self._left -= size
        self._write({"ev": kind, "t": round(time.monotonic() - self._start, 4), **fields})
        return True

    def end(self, **counts: int) -> None:
        """The last line."""
        self._write({"ev": "summary", "lines": self._seq, "dropped": self.dropped, "cut": self.cut, **counts})

    def _write(self, fields: dict[str, Any]) -> None:
        fields["seq"] = self._seq
        self._seq += 1
        data = memoryview(json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n")
        while data:
            data = data[os.write(self._fd, data) :]
