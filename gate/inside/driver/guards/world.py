"""A world: what stands at each path of a call's arguments (``user.role``), and what the call asked of it.

Values travel as JSON between the sides, so that base and head are asked the same: plain ones as they are,
the rest as a list that begins with a word (``["time", -60, true]`` is a minute ago, with a time zone).
"""

from __future__ import annotations

import datetime
import decimal
import math
import time
from collections.abc import Callable
from typing import Any

Encoded = Any
_LONGEST = 200
_MOST_FACTS = 400
_CLOCK = (1_000_000_000, 10_000_000_000)
"""Numbers between these are taken for seconds since 1970; a thousand times as much for milliseconds."""
_FAR = 20 * 366 * 86_400
"""Seconds from now beyond which a number is no time of day after all."""


class EnoughAskedError(BaseException):
    """Ends a call that asks without end. No Exception: the code's own handlers must not keep it."""


class World:
    """``given``: encoded values by path. ``facts``: what was asked, as (path, how, encoded other side).
    ``asked``: the paths that were looked at, in order.
    """

    def __init__(self, given: dict[str, Encoded], now: float | None = None) -> None:
        self.given = given
        self.now = time.time() if now is None else now
        self.facts: dict[tuple[str, str, str], Encoded] = {}
        self.asked: dict[str, None] = {}
        self.producers: dict[str, Callable[[World], Any]] = {}
        self._count = 0

    def note(self, path: str, how: str, other: Any) -> None:
        """Somebody compares what is at ``path`` with ``other``."""
        self._count += 1
        if self._count > 20 * _MOST_FACTS:
            raise EnoughAskedError
        if len(self.facts) >= _MOST_FACTS:
            return
        told = self.encode(other)
        if told is not UNTOLD:
            self.facts.setdefault((path, how, repr(told)), told)

    def encode(self, value: Any) -> Encoded:
        """A value for JSON; UNTOLD where it is none that can be told."""
        place = getattr(type(value), "gate_traced", False) and value.gate_path
        if place:
            return ["same", place]
        if value is None or type(value) is bool:
            return value
        if isinstance(value, str):
            return str.__str__(value) if len(value) <= _LONGEST else UNTOLD
        if isinstance(value, int):
            return self._number(int(value))
        if isinstance(value, float):
            return self._number(value) if math.isfinite(value) else ["float", repr(value)]
        if isinstance(value, decimal.Decimal):
            return self._number(float(value)) if value.is_finite() else ["float", "nan"]
        if isinstance(value, (bytes, bytearray)):
            return ["bytes", bytes(value).hex()] if len(value) <= _LONGEST else UNTOLD
        if isinstance(value, datetime.datetime):
            return ["time", round(self._until(value)), value.tzinfo is not None]
        if isinstance(value, datetime.timedelta):
            return ["span", round(value.total_seconds())]
        return UNTOLD

    def _number(self, value: float) -> Encoded:
        for unit, word in ((1, "clock"), (1000, "clock-ms")):
            if _CLOCK[0] * unit < value < _CLOCK[1] * unit and abs(value / unit - self.now) < _FAR:
                return [word, round(value / unit - self.now)]
        return value

    def _until(self, value: datetime.datetime) -> float:
        try:
            now = datetime.datetime.fromtimestamp(self.now, value.tzinfo)
            return (value - now).total_seconds()
        except (OverflowError, ValueError):
            return 0.0

    def decode(self, told: Encoded) -> Any:
        """The value of what ``encode`` gave; of ``same`` what stands there."""
        if not isinstance(told, list):
            return told
        word, value = told[0], told[1]
        if word == "bytes":
            return bytes.fromhex(value)
        if word == "float":
            return float(value)
        if word == "clock":
            return int(self.now) + value
        if word == "clock-ms":
            return 1000 * (int(self.now) + value)
        if word == "span":
            return datetime.timedelta(seconds=value)
        if word == "time":
            zone = datetime.timezone.utc if told[2] else None
            return datetime.datetime.fromtimestamp(self.now, zone) + datetime.timedelta(seconds=value)
        if word == "made":
            return changed(self.producers[value](self), told[2])
        if word == "list":
            return [self.decode(one) for one in value]
        if word == "same":
            other = self.given.get(value)
            if isinstance(other, list) and other[:1] == ["same"]:
                other = None
            return self.decode(other) if value in self.given else word_of(value)
        raise ValueError(word)


UNTOLD: Any = object()
CHANGES = ("", "last", "cut", "no-end", "upper", "longer", "first-part", "reversed")
"""What may become of a proof that the code under test made itself."""


def changed(proof: Any, how: str) -> Any:
    """A proof that is no longer the one that was made, of the same type."""
    if isinstance(proof, (bytes, bytearray)):
        return changed(bytes(proof).decode("latin-1"), how).encode("latin-1")
    text = str(proof)
    mark = "." if "." in text else ":" if ":" in text else ""
    ends = text.rpartition(mark) if mark else ("", "", text)
    return {
        "last": text[:-1] + ("0" if text[-1:] != "0" else "1"),
        "cut": text[: len(text) // 2],
        "no-end": ends[0] + ends[1],
        "upper": text.swapcase(),
        "longer": text + "x",
        "first-part": text.partition(mark)[0] if mark else text[:8],
        "reversed": "gate" + text[4:],
    }.get(how, text)


def word_of(path: str) -> str:
    """The text that stands at a path where nothing else is given: another one at each, of the form that the
    last name of the path asks for.
    """
    leaf = "".join(c if c.isalnum() else "-" for c in path.rpartition(".")[2]).strip("-")[:20]
    word = f"gate-{leaf}-{_sum(path):05d}"
    words = set(leaf.lower().split("-")[-1].split("_")) | {leaf.lower()}
    for form, names in _FORMS:
        if words & names:
            return form.format(word=word, number=1 + _sum(path) % 250)
    return word


_FORMS = (
    ("https://{word}.invalid/", {"url", "uri", "link", "redirect", "next", "callback", "referer", "origin"}),
    ("{word}.invalid", {"host", "hostname", "domain", "netloc"}),
    ("{word}@gate.invalid", {"email", "mail"}),
    ("203.0.113.{number}", {"ip", "addr", "address"}),
)


def _sum(path: str) -> int:
    total = 0
    for letter in path:
        total = (total * 131 + ord(letter)) % 46_656
    return total


def number_of(path: str) -> int:
    """The number of a path: small, and another one at most others."""
    return 3 + _sum(path) % 29
