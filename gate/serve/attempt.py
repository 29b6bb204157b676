"""One attempt at a delivery, whichever queue keeps it: as often as it takes, for a day at most."""

from __future__ import annotations

import random
import time
from typing import Literal

from gate.dataclass import dataclass
from gate.serve.interface import GIVE_UP, Delivery, Handle, HopelessError, Later

_MOST_NOTE = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How it ended. ``seconds``: until the next attempt, if any; ``sha`` ends the wait earlier."""

    outcome: Literal["done", "failed", "retried", "waiting"]
    note: str
    seconds: float = 0.0
    sha: str | None = None


def attempt(handle: Handle, delivery: Delivery) -> Ended:
    """Handle it. Raises nothing: whatever goes wrong, the delivery is not lost."""
    try:
        ended = handle(delivery)
    except HopelessError as error:
        return Ended(outcome="failed", note=str(error)[:_MOST_NOTE])
    except Exception as error:  # noqa: BLE001 - it is tried again
        note = f"{type(error).__name__}: {error}"[:_MOST_NOTE]
        if time.time() - delivery.received > GIVE_UP:
            return Ended(outcome="failed", note=note)
        pause = backoff(delivery.attempts) * random.uniform(0.75, 1.25)  # noqa: S311 - spreads load
        return Ended(outcome="retried", note=note, seconds=pause)
    if isinstance(ended, Later):
        return Ended(outcome="waiting", note=ended.note[:_MOST_NOTE], seconds=ended.seconds, sha=ended.sha)
    return Ended(outcome="done", note=ended.note[:_MOST_NOTE])


def backoff(attempt: int, *, first: float = 2.0, most: float = 600.0) -> float:
    """Seconds before the next attempt: doubling, bounded."""
    return float(min(first * 2 ** min(attempt, 30), most))
