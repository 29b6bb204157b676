"""How slow this machine is just now, so that a deadline measures the code and not its neighbours.

A fixed piece of work is timed when a check begins. What it takes longer than on an idle machine of ordinary
speed is how much longer everything else gets. A deadline that is a constant of ours would make a check on a
busy runner inconclusive for what nobody did.
"""

from __future__ import annotations

import os
import time
from typing import Final

import msgspec

from gate.settings import SandboxSettings

MOST: Final = 4.0
"""A check never gets more than so many times its deadlines: code that waits is to be waited for in vain."""
_REFERENCE: Final = 0.009
"""Seconds of the work below on an idle virtual CPU of 2020 (0.0063 s on one of 2024)."""
_ROUNDS: Final = 120_000
_TIMES: Final = 3


def measure() -> float:
    """How many times as long as usual work takes here and now: 1 to MOST. Costs 0.03 s on an idle machine."""
    took = []
    for _ in range(_TIMES):
        start = time.monotonic()
        _work()
        took.append(time.monotonic() - start)
    busy = os.getloadavg()[0] / max(1, len(os.sched_getaffinity(0)))
    return round(min(MOST, max(1.0, sum(took) / _TIMES / _REFERENCE, busy)), 1)


def _work() -> int:
    total = 0
    for number in range(_ROUNDS):
        total += number * number % 7
    return total


def paced(wanted: SandboxSettings, pace: float) -> SandboxSettings:
    """The same settings with every number of seconds ``pace`` times as long."""
    return msgspec.structs.replace(
        wanted,
        deadline=wanted.deadline * pace,
        budget=wanted.budget * pace,
        endless=wanted.endless * pace,
        setup_deadline=wanted.setup_deadline * pace,
    )
