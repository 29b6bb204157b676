"""A world that is the same in every run: chance and clocks answer from a seed, in this process.

Programs are run several times with the same secrets and with others (gate/stages/varied.py). What they take
from chance or the clock would differ each time and hide what follows the secret. Reached: Python's ``os``,
``random``, ``secrets``, ``uuid``, ``tempfile``, ``time``, ``datetime``, here and in the Python programs that
the code starts (pinned/sitecustomize.py), and Node's ``crypto``, ``Math.random`` and ``Date``
(pinned/world.cjs). Not reached: native code that asks the kernel itself, ``/dev/urandom``, the monotonic
clock.
"""

from __future__ import annotations

import hashlib
import os
import random
import tempfile
import threading
import time
import uuid
from typing import Any

from . import clock_shift

SEED = "GATE_PINNED"
_TICK = 0.001


class Stream:
    """Bytes from a seed, for each thread by its name a row of its own: who is first decides nothing."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._rows: dict[str, int] = {}

    def read(self, size: int) -> bytes:
        """So many bytes. As ``os.urandom``."""
        if size < 0:
            raise ValueError("negative argument not allowed")
        name = threading.current_thread().name
        out = b""
        while len(out) < size:
            row = self._rows[name] = self._rows.get(name, 0) + 1
            out += hashlib.sha512(f"{self._seed}:{name}:{row}".encode("utf-8", "replace")).digest()
        return out[:size]


def pin(seed: int, start: float) -> None:
    """From now on, in this process and the programs that it starts. ``start``: the time of day that clocks
    begin with, seconds since 1970; each look at one moves it by a thousandth.
    """
    pin_process(seed, start)
    pin_programs(seed, start)


def pin_process(seed: int, start: float) -> None:
    """The same for this process alone."""
    _pin_chance(Stream(seed))
    _pin_clock(start)


def pin_programs(seed: int, start: float) -> None:
    """The same for the programs that it starts."""
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ[SEED] = f"{seed} {start!r}"
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(part for part in (f"{here}/pinned", path) if part)
    options = os.environ.get("NODE_OPTIONS", "")
    os.environ["NODE_OPTIONS"] = f"{options} --require={here}/pinned/world.cjs".strip()


def _pin_chance(stream: Stream) -> None:
    os.urandom = stream.read
    if hasattr(os, "getrandom"):
        os.getrandom = lambda size, flags=0: stream.read(size)
    random._urandom = stream.read  # type: ignore[attr-defined]
    seed = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed(self, int.from_bytes(stream.read(32), "big") if a is None else a, version)

    random.Random.seed = seeded  # type: ignore[method-assign]
    random.seed(0)
    names: Any = tempfile._RandomNameSequence  # type: ignore[attr-defined]
    generator = random.Random(int.from_bytes(stream.read(8), "big"))
    names.rng = property(lambda self: generator)
    parts: Any = uuid
    for name in ("_generate_time_safe", "_UuidCreate"):
        setattr(parts, name, None)
    parts._node = 0x02_00_5E_00_53_01  # locally administered: nobody's


def _pin_clock(start: float) -> None:
    """The time of day moves by being looked at; durations too, but not what deadlines are measured by."""
    looks = [0]

    def now() -> float:
        looks[0] += 1
        return start + looks[0] * _TICK

    clock_shift.follow(now)
    spent = [0]

    def counter() -> float:
        spent[0] += 1
        return spent[0] * _TICK

    for name in ("perf_counter", "process_time", "thread_time"):
        setattr(time, name, counter)
        setattr(time, f"{name}_ns", lambda: int(counter() * 1e9))
