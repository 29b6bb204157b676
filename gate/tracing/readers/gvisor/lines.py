"""Trace lines as they are written: numbered, timed, and no more of a kind than its budget."""

from __future__ import annotations

import platform
from typing import Final

import msgspec

from gate.tracing.events import VERSION
from gate.tracing.readers.gvisor.plain_calls import Fields

_LINE_UNIT: Final = 512


class Lines:
    """What a translator has written and was not taken yet. ``events``: the budget of lines."""

    def __init__(self, *, events: int) -> None:
        self._budget = events
        self._left: dict[str, int] = {}
        self._out: list[bytes] = []
        self.seq = self.events = self.dropped = 0
        self._t0: int | None = None
        self._now = 0

    def _said(self, kind: str, call: str, thread: int, group: int, fields: Fields) -> None:
        self._emit(kind, head_of(call, thread, group) | fields)

    def _emit(self, kind: str, fields: Fields, *, bare: bool = False) -> None:
        if kind != "summary":
            self._start()
        passed = max(0, self._now - (self._t0 or 0)) / 1e9
        line = msgspec.json.encode({"ev": kind, "seq": self.seq, "t": round(passed, 6), **fields}) + b"\n"
        if not bare and not self._room(kind, len(line)):
            self.dropped += 1
            return
        self.events += kind != "summary"
        self.seq += 1
        self._out.append(line)

    def _room(self, kind: str, size: int) -> bool:
        """Every kind of event has its own budget of lines, as with the other tracer; long ones count more."""
        full = self._budget if kind in ("open", "look") else max(1000, self._budget // 10)
        left = self._left.get(kind, full) - 1 - size // _LINE_UNIT
        self._left[kind] = max(left, 0)
        return left >= 0

    def _start(self) -> None:
        if self.seq:
            return
        wall = (self._t0 or 0) / 1e9
        first = {"version": VERSION, "tracer": "seccheck", "arch": platform.machine(), "wall": wall}
        self._out.append(msgspec.json.encode({"ev": "start", "seq": 0, "t": 0.0, **first}) + b"\n")
        self.seq = 1

    def _taken(self) -> list[bytes]:
        out, self._out = self._out, []
        return out


def head_of(call: str, thread: int, group: int) -> Fields:
    """What every call's line carries."""
    head: Fields = {"pid": group, "call": call}
    return head if thread == group else {**head, "tid": thread}
