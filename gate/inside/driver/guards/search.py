"""Which worlds a guard is asked in next: values that it compared, what made it take another way put together.

The order follows from the answers alone, so that the same code is explored in the same way each time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from . import neighbours
from .world import CHANGES, Encoded, word_of

DEEPEST = 4
"""Values that are put in at once."""
TIMES = "*times"
"""In a world: how often the guard is called; the last answer counts."""
_TIMES = (2, 6, 12, 40, 258)
_PATHS = 14
_PLAIN_PATHS = 4
_WAYS = 12
"""Worlds that took another way which are put together with each other."""
_EXACT = 10
"""Values of a path that are put together with other ways."""
_LOOKED_UP = ("raised KeyError", "raised ValueError", "raised LookupError")
"""Accidents after which other values are of use: what was looked up is not there."""
Given = dict[str, Encoded]


class Search:
    """``constants``: what the code of the guard holds ready, asked for when it has run; ``producers``: names
    of functions that make proofs.
    """

    def __init__(self, constants: Callable[[], list[Any]], producers: Iterable[str]) -> None:
        self._constants, self._producers = constants, list(producers)
        self._waiting: deque[Given] = deque([{}])
        self._first: deque[Given] = deque()
        self._turn = False
        self._tried = {"{}"}
        self._ways: Counter[Any] = Counter()
        self._turns: list[Given] = []
        self._exact: dict[str, dict[str, Encoded]] = {}

    def next(self) -> Given | None:
        """The next world; None where there is none."""
        self._turn = not self._turn
        for queue in (self._first, self._waiting) if self._turn else (self._waiting, self._first):
            if queue:
                return queue.popleft()
        return None

    def heard(self, given: Given, answer: Any) -> int:
        """Take what came of a world; how many have gone its way so far."""
        way = answer.word, answer.trail, answer.shape
        self._ways[way] += 1
        if answer.accident:
            if self._ways[way] == 1 and len(given) <= 1 and answer.word.startswith(_LOOKED_UP):
                for path, told in self._proposals(answer):
                    self._put(self._waiting, {**given, path: told})
            return self._ways[way]
        if TIMES not in given:
            self._take_values(answer)
        if self._ways[way] == 1 and len(given) <= DEEPEST and TIMES not in given:
            self._combine(given)
            for path, told in self._proposals(answer):  # near what opened the way first: is it open to those?
                self._put(self._first if path in given else self._waiting, {**given, path: told})
        return self._ways[way]

    def _put(self, queue: deque[Given], world: Given) -> None:
        key = repr(sorted(world.items()))
        if key in self._tried or len(world) > DEEPEST:
            return
        if any(told == ["same", path] for path, told in world.items()) or not self._can_be(world):
            return
        self._tried.add(key)
        queue.append(world)

    def _can_be(self, world: Given) -> bool:
        """Can what stands at these paths stand there together?"""
        return True

    def _edges(self, path: str, asked: Sequence[str]) -> Sequence[Encoded]:
        """Values of each kind for a path; ``asked``: all that were looked at."""
        return neighbours.EDGES

    def _take_values(self, answer: Any) -> None:
        """The very values that something was compared with, for putting them together with other ways."""
        for (path, how, key), told in answer.facts:
            known = self._exact.setdefault(path, {})
            looked_up = self._constants()[:_EXACT] if how == "hash" and not known else []
            for word, value in (key, told), *((repr(one), one) for one in looked_up):
                if (how not in ("==", "<") and value is told) or word in known or len(known) >= _EXACT:
                    continue
                known[word] = value
                for turn in self._turns[1:_WAYS]:
                    if path not in turn:
                        self._put(self._first, {**turn, path: value})

    def _combine(self, given: Given) -> None:
        for turn in self._turns[:_WAYS]:
            self._put(self._first, {**turn, **given})
        if given:
            for path, known in self._exact.items():
                for told in known.values() if path not in given else ():
                    self._put(self._first, {**given, path: told})
        self._turns.append(given)

    def _proposals(self, answer: Any) -> Iterator[tuple[str, Encoded]]:
        hashed = []
        for (path, how, _), told in answer.facts:
            if how == "hash":
                hashed.append(path)
            if isinstance(told, list) and told[:1] == ["same"]:
                for one in neighbours.copies(told, word_of(told[1])):
                    yield path, one
            for one in neighbours.near(path, how, told):
                yield path, one
        known = self._constants()
        for path in dict.fromkeys(hashed):
            for one in known:
                yield path, one
                if isinstance(one, str):
                    for other in neighbours.near(path, "==", one)[1:4]:
                        yield path, other
        for path in answer.asked[:_PATHS]:
            for one in self._edges(path, answer.asked):
                yield path, one
        plain = [path for path in answer.asked if path.isidentifier()][:_PLAIN_PATHS]
        for name in self._producers:
            for path in plain:
                for how in CHANGES:
                    yield path, ["made", name, how]
        for path in plain:
            for one in (*known, *neighbours.TEXTS, *neighbours.NUMBERS):
                yield path, one
                for other in neighbours.places(one):
                    yield path, other
        for times in _TIMES:
            yield TIMES, times
