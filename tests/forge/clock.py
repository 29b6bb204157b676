"""Time that passes only by sleeping."""

from __future__ import annotations


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def now(self) -> float:
        return self.time
