"""What guards answered to the same questions at base and at head: what base refuses and head accepts.

The answers are hints of the driver, which the code can forge; forged ones can only hide what other looks see.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gate.model.guard_calls import GuardTarget, OpenedGuard
from gate.model.run import RunRecord
from gate.plan.item_outcomes import items_of
from gate.regex import regex
from gate.signals.guard_words import GuardWords, Row, World

MOST: Final = 36
"""Questions of one guard that are asked again, of each side."""
_SHOWN: Final = 3
_TIMES: Final = "*times"
_KEPT: Final = "*kept"
_KEPT_AS_IT_WAS: Final = 6
"""Questions that base answers with yes: where head says no, its guard asks for something else."""
_OFTEN: Final = 40
"""Calls in a row. More than an honest limit allows, or nothing is counted any more."""
_LONG_AGO: Final = 390 * 86_400
"""Seconds: who is let in after so long is let in for ever."""
_TEXT: Final = 200
_VAGUE: Final = frozenset(map(repr, (True, 0, 1, -1, " ", "0", "-1", "true")))
_DIGEST: Final = regex(r"(?i)[0-9a-f]{16,}|[A-Za-z0-9+/=_-]{24,}")


def rows_of(record: RunRecord, targets: Iterable[GuardTarget]) -> dict[GuardTarget, tuple[Row, ...]]:
    """Questions and answers by guard. What has another form is left out."""
    known = {(one.path, one.name): one for one in targets}
    in_full = {f"{one.path} {one.name}": one for one in targets}
    found: dict[GuardTarget, tuple[Row, ...]] = {}
    for item, answer in items_of(record):
        table = answer.get("guards") if answer else None
        for name, said in table.items() if isinstance(table, Mapping) else ():
            target = known.get((str(item.get("path")), str(name)), in_full.get(str(name)))
            if target is not None and isinstance(said, list) and len(said) == 2 and isinstance(said[1], list):
                found[target] = tuple(_rows(said[1]))
    return found


def _rows(said: Iterable[Any]) -> Iterator[Row]:
    for one in said:
        if isinstance(one, list) and len(one) == 3 and isinstance(one[0], dict) and isinstance(one[2], list):
            yield Row(one[0], str(one[1])[:_TEXT], frozenset(str(path) for path in one[2]))


def worth_asking(target: GuardTarget, base: Sequence[Row], head: Sequence[Row]) -> list[World]:
    """What base refuses and head accepts, by what each side found by itself, each once: first what is
    accepted, so that what is remembered of it shows. Of a method once more with one object for all.
    """
    words = GuardWords(target.name, (*base, *head))
    known = {_key(row.world) for row in base if words.accept(row.word)}
    known_no = {_key(row.world) for row in head if words.refuse(row.word)}
    refused = _news((row.world for row in base if words.refuse(row.word)), known_no)[:MOST]
    accepted = _news((row.world for row in head if words.accept(row.word)), known)[:MOST]
    if not (refused or accepted):
        return []
    found = {_key(world): world for world in (*accepted, {}, *refused)}
    kept = [row.world for row in base if words.accept(row.word)][:_KEPT_AS_IT_WAS]
    found = {**{_key(world): world for world in kept}, **found}
    asked = list(found.values())
    if "." in target.name:
        asked += [{**world, _KEPT: True} for world in asked if not any(p.startswith("self") for p in world)]
    return asked


def _news(worlds: Iterable[World], known: set[str]) -> list[World]:
    """Those first of which the other side is not known to say the same."""
    return sorted(worlds, key=lambda world: _key(world) in known)


def opened(
    learned: tuple[Mapping[GuardTarget, Sequence[Row]], Mapping[GuardTarget, Sequence[Row]]],
    base: Mapping[GuardTarget, Sequence[Row]],
    head: Mapping[GuardTarget, Sequence[Row]],
    written: str,
) -> tuple[OpenedGuard, ...]:
    """Guards that accept what base refused. ``learned``: what was found by itself on each side; ``written``:
    the lines that are new.
    """
    sides = (
        (target, [*learned[0].get(target, ())], base.get(target, ()), [*learned[1].get(target, ())], now)
        for target, now in head.items()
    )
    found = (
        _Answers(target, before, asked, after, now, written).opened()
        for target, before, asked, after, now in sides
    )
    return tuple(one for one in found if one is not None)


class _Answers:
    """All that one guard answered: ``before`` and ``after`` when each side was explored by itself, ``base``
    and ``head`` when both were asked the same.
    """

    def __init__(
        self,
        target: GuardTarget,
        before: list[Row],
        base: Sequence[Row],
        after: list[Row],
        head: Sequence[Row],
        written: str,
    ) -> None:
        self.target, self.written = target, written
        self.words = GuardWords(target.name, (*before, *base, *after, *head))
        self.known = frozenset(path for row in (*before, *base) for path in row.asked)
        self.asked_now = frozenset(path for row in (*after, *head) for path in row.asked)
        self.said = {_key(row.world): row.word for row in base}
        self.first = {_key(row.world): row.word for row in before}
        self.head = [row for row in head if _key(row.world) in self.said]
        self.spelled = {_spelled(row.world) for row in (*before, *base) if self._accepts(row.word)}

    def opened(self) -> OpenedGuard | None:
        """What head lets in of what base refuses; None where that is nothing."""
        moved = {
            path
            for row in self.head
            if self._accepts(self.said[_key(row.world)]) and not self._accepts(row.word)
            for path in _digests(row.world)
        }
        rows = [row for row in self.head if self._is_opened(row) and not moved & _digests(row.world)]
        if not rows:
            return None
        rows.sort(key=lambda row: (self._is_plain(row), len(row.world)))
        return OpenedGuard(
            target=self.target,
            asked=tuple(_shown(row.world) for row in rows[:_SHOWN]),
            base=self.said[_key(rows[0].world)],
            head=rows[0].word,
            plain=all(self._is_plain(row) for row in rows),
        )

    def _is_opened(self, row: Row) -> bool:
        """Refused at base, each time that it was asked, and accepted at head. A question that looks at more
        than base did is one only where head still looks at all that base looked at.
        """
        key = _key(row.world)
        if not self._is_telling(row.world):
            return False
        if not self.words.refuse(self.said[key]) or self._accepts(self.first.get(key, "")):
            return False
        return self._accepts(row.word) and (row.asked <= self.known or self.known <= self.asked_now)

    def _is_telling(self, world: World) -> bool:
        """Does a value in it say more than that something is there? ``if user.admin is True`` and ``if
        user.admin`` differ for a 1, and nobody is let in by that. Nor by asking again what was let in once.
        """
        once = {path: told for path, told in world.items() if path != _TIMES}
        if _TIMES in world and self.words.refuse(self.said.get(_key(once), "")):
            return False
        values = [repr(told) for path, told in world.items() if path != _KEPT]
        return any(one not in _VAGUE and (one != "'*'" or '"*"' in self.written) for one in values)

    def _accepts(self, word: str) -> bool:
        return self.words.accept(word)

    def _is_plain(self, row: Row) -> bool:
        openly = self.words.refuse_openly(self.said[_key(row.world)])
        if not (openly and row.asked <= self.known) or _is_plain(row.world, self.written):
            return True
        return _spelled(row.world) in self.spelled and not _names_somebody(row.world)


def _digests(world: World) -> set[str]:
    """Paths of values that only the code can know: another way to sign makes others, and is no wider."""
    return {path for path, told in world.items() if isinstance(told, str) and _DIGEST.search(told)}


def _key(world: World) -> str:
    return json.dumps(world, sort_keys=True)


def _is_plain(world: World, written: str) -> bool:
    """Is what the guard now accepts written in the new lines, or a number or a time? That is what an honest
    change widens.
    """
    if _TIMES in world:
        return bool(world[_TIMES] <= _OFTEN)
    return any(_is_written(told, written) for path, told in world.items() if path != _KEPT)


def _is_written(told: Any, written: str) -> bool:
    if isinstance(told, str):
        return len(told) > 1 and f'"{told}"' in written.replace("'", '"')
    if isinstance(told, bool) or told is None:
        return False
    if isinstance(told, (int, float)):
        return abs(told) > 1
    if not (isinstance(told, list) and len(told) > 1 and told[0] in ("clock", "clock-ms", "time", "span")):
        return False
    return isinstance(told[1], (int, float)) and abs(told[1]) < _LONG_AGO


def _spelled(world: World) -> str:
    """The same for worlds that differ in capitals and outer blanks."""
    return _key(
        {path: told.strip().casefold() if isinstance(told, str) else told for path, told in world.items()}
    )


def _names_somebody(world: World) -> bool:
    """Is one of the values a name that the driver made up or a proof, and no word of the program's own?
    Somebody else can have such a name in capitals; nobody takes another role by writing ``ADMIN``.
    """
    texts = [told for told in world.values() if isinstance(told, str)]
    return bool(_digests(world)) or any("gate" in told.casefold() for told in texts)


def _shown(world: World) -> str:
    parts = [f"{path} = {_value(told)}" for path, told in world.items()]
    return ("; ".join(parts) or "ordinary arguments")[:_TEXT]


def _value(told: Any) -> str:
    if isinstance(told, list) and len(told) > 1:
        return {
            "same": f"the same as {told[1]}",
            "bytes": f"bytes {told[1]}",
            "js": str(told[1]),
            "many": f"{told[1]} alike",
        }.get(str(told[0]), f"{told[0]} {told[1]}")
    return repr(told)
