"""Moves the clock that Python code sees, inside one process, by a number of seconds.

It reaches ``time`` and ``datetime`` and nothing else: file times and raw system calls still see the real
clock, and so do programs that the code starts, where there is no libfaketime for them (clock_preload.py).
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from typing import Any

_REAL_DATE = datetime.date
_REAL_DATETIME = datetime.datetime


def shift(offset: float) -> None:
    """From now on every clock of ``time`` (but the monotonic ones) and ``datetime`` is off by ``offset``."""
    now = time.time
    follow(lambda: now() + offset)


def follow(now: Callable[[], float]) -> None:
    """From now on every clock of ``time`` (but the monotonic ones) and ``datetime`` tells what ``now`` says,
    seconds since 1970.
    """
    time.time = now
    time.time_ns = lambda: int(now() * 1e9)
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _with_seconds(getattr(time, name)))
    strftime, asctime = time.strftime, time.asctime
    time.strftime = lambda form, *when: strftime(form, *(when or (time.localtime(),)))
    time.asctime = lambda *when: asctime(*(when or (time.localtime(),)))
    clock_gettime, clock_gettime_ns = time.clock_gettime, time.clock_gettime_ns
    real = time.CLOCK_REALTIME
    time.clock_gettime = lambda clock: now() if clock == real else clock_gettime(clock)
    time.clock_gettime_ns = lambda clock: int(now() * 1e9) if clock == real else clock_gettime_ns(clock)
    _move_datetime(now)


def _with_seconds(function: Any) -> object:
    """The same function; without an argument it asks the moved clock."""
    return lambda seconds=None: function(time.time() if seconds is None else seconds)


def _move_datetime(clock: Callable[[], float]) -> None:
    """Put subclasses in place of ``date`` and ``datetime`` that pass for the real ones."""

    class MovedDate(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, _REAL_DATE)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, _REAL_DATE)

    class MovedDatetime(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, _REAL_DATETIME)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, _REAL_DATETIME)

    class moved_datetime(_REAL_DATETIME, metaclass=MovedDatetime):  # noqa: N801
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return _REAL_DATETIME.fromtimestamp(clock(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return _REAL_DATETIME.fromtimestamp(clock(), datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    class moved_date(_REAL_DATE, metaclass=MovedDate):  # noqa: N801
        @classmethod
        def today(cls) -> Any:
            return _REAL_DATE.fromtimestamp(clock())

    for made, real in ((moved_datetime, _REAL_DATETIME), (moved_date, _REAL_DATE)):
        made.__name__, made.__qualname__, made.__module__ = real.__name__, real.__qualname__, "datetime"
    datetime.datetime = moved_datetime  # type: ignore[misc]
    datetime.date = moved_date  # type: ignore[misc]
