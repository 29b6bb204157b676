"""Where data can leave, and what of our canaries is in it. Bounded in length and in number."""

from __future__ import annotations

from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.tracing.behaviour.accumulator import Cells
from gate.tracing.behaviour.canary_match import Matcher

_EACH: Final = 64 << 10
_CHANNELS: Final = 128
_WHOLE: Final = 2 << 20


class Channels:
    """Bytes by channel and destination. Channels: ``net``, ``dns``, ``argv``, ``file``, ``file-name``,
    ``stdout``, ``stderr``.

    Pieces of one channel are joined in the order they were sent, so that a secret split over several
    messages is whole again.
    """

    def __init__(self) -> None:
        self._data: dict[tuple[str, str], bytearray] = {}
        self._last: dict[tuple[str, str], bytes] = {}
        self._lost = 0
        self.actors: dict[tuple[str, str], str] = {}
        self._began: dict[tuple[str, str], float | None] = {}
        self.now: float | None = None
        """As in Cells."""

    def add(self, channel: str, to: str, piece: bytes, actor: str = "") -> None:
        """One piece. The same piece twice running counts once (repeated queries, retries)."""
        key = (channel, to)
        if not piece or self._last.get(key) == piece:
            return
        data = self._data.get(key)
        if data is None:
            if len(self._data) >= _CHANNELS:
                key = (channel, "*")
                data = self._data.setdefault(key, bytearray())
            else:
                data = self._data[key] = bytearray()
            self.actors.setdefault(key, actor)
            self._began.setdefault(key, self.now)
        room = (_WHOLE if channel in ("stdout", "stderr") else _EACH) - len(data)
        self._lost += max(0, len(piece) - room)
        data += piece[: max(0, room)]
        self._last[key] = piece

    def finish(self, matcher: Matcher, cells: Cells) -> None:
        """Look for canaries in every channel and record what was seen."""
        for (channel, to), data in sorted(self._data.items()):
            for sighting in matcher.find(bytes(data)):
                where = f"{channel} {to}" if to else channel
                cells.now = self._began.get((channel, to))
                cells.add(
                    BehaviourKind.CANARY,
                    f"{sighting.canary} in {where}",
                    self.actors.get((channel, to), ""),
                    {"canary": sighting.canary, "channel": channel, "to": to, "encoding": sighting.encoding},
                )
