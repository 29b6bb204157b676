"""Counters and one histogram, in Prometheus's text format 0.0.4."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Final

_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Meters:
    """What happened since the start. Label values are ours, never a request's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._deliveries: Counter[str] = Counter()
        self._works: Counter[str] = Counter()
        self._buckets = [0] * len(_BOUNDS)
        self._seconds, self._count = 0.0, 0

    def delivery(self, outcome: str, seconds: float) -> None:
        """One request to /webhook was answered."""
        with self._lock:
            self._deliveries[outcome] += 1
            self._seconds += seconds
            self._count += 1
            for place, bound in enumerate(_BOUNDS):
                self._buckets[place] += seconds <= bound

    def work(self, outcome: str) -> None:
        """One attempt at a delivery ended."""
        with self._lock:
            self._works[outcome] += 1

    def text(self, stored: Mapping[str, int]) -> str:
        """All of it; ``stored`` are deliveries on disk by state."""
        with self._lock:
            lines = _family("gate_deliveries_total", "counter", "outcome", self._deliveries)
            lines += _family("gate_work_total", "counter", "outcome", self._works)
            lines += _family("gate_stored", "gauge", "state", stored)
            lines += ["# TYPE gate_acknowledge_seconds histogram"]
            lines += [
                f'gate_acknowledge_seconds_bucket{{le="{bound}"}} {count}'
                for bound, count in zip(_BOUNDS, self._buckets, strict=True)
            ]
            lines += [f'gate_acknowledge_seconds_bucket{{le="+Inf"}} {self._count}']
            lines += [f"gate_acknowledge_seconds_sum {self._seconds:.6f}"]
            lines += [f"gate_acknowledge_seconds_count {self._count}"]
        return "\n".join(lines) + "\n"


def _family(name: str, kind: str, label: str, values: Mapping[str, int]) -> list[str]:
    samples = [f'{name}{{{label}="{value}"}} {count}' for value, count in sorted(values.items())]
    return [f"# TYPE {name} {kind}", *samples]
