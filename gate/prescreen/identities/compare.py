"""Which identifiers of base are others at head: under the same keys, moved elsewhere, or almost the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.prescreen.identities.exchanged import exchanged
from gate.prescreen.identities.literals import Identifier
from gate.prescreen.identities.names import is_broad
from gate.prescreen.identities.shapes import is_number, is_twin, steps

Sort = Literal["twin", "key", "same", "moved", "exchanged", "taken", "computed", "overridden"]
Placed = tuple[str, Identifier]
_MOST_LEFT: Final = 400
_SHAPED: Final = frozenset({"bank", "key", "wallet", "uuid", "prefixed", "opaque"})
_UNCERTAIN: Final = frozenset({"opaque", "uuid", "prefixed"})
"""Shapes of what may be anything: alone, without a key that names a party, they say nothing."""
_WITHIN: Final = frozenset({"mail", "room", "figures", "octets"})
"""Shapes of parts of a text: only what stands in the same place is compared."""
_LONG_NUMBER: Final = 8
_SLIPS: Final = 1


@dataclass(frozen=True, slots=True)
class ChangedIdentity:
    """One identifier that became another one. ``path``: the file of head."""

    sort: Sort
    path: str
    before: Identifier
    after: Identifier


def changed(
    base: Mapping[str, Sequence[Identifier]], head: Mapping[str, Sequence[Identifier]]
) -> Iterator[ChangedIdentity]:
    """``base`` and ``head``: the identifiers of both sides by the file's path at head (of base's deleted
    files by their own).
    """
    kept = {one.value for many in head.values() for one in many if one.shape != "word"}
    had = {one.value for many in base.values() for one in many if one.shape != "word"}
    gone = [(path, one) for path, one in _told(base) if one.value not in kept]
    come = [(path, one) for path, one in _told(head) if one.value not in had]
    told: set[int] = set()
    for exchange, path, before, after in exchanged(base, head):
        told.add(id(after))
        yield ChangedIdentity(exchange, path, before, after)
    found: tuple[tuple[Sort, Iterator[tuple[Identifier, Placed]]], ...] = (
        ("twin", _twins(gone, come)), ("same", _same(gone, come)), ("moved", _moved(gone, come)),
    )  # fmt: skip
    for sort, pairs in found:
        for before, (path, after) in pairs:
            if id(before) in told or id(after) in told:
                continue
            told |= {id(before), id(after)}
            is_key = before.shape == after.shape == "key"
            yield ChangedIdentity("key" if is_key and sort == "same" else sort, path, before, after)


def _told(side: Mapping[str, Sequence[Identifier]]) -> Iterator[Placed]:
    return ((path, one) for path, many in side.items() for one in many if one.shape != "word")


def _twins(gone: Sequence[Placed], come: Sequence[Placed]) -> Iterator[tuple[Identifier, Placed]]:
    """Almost the same: one that nobody would tell from the other."""
    by_length: dict[tuple[str, int], list[Placed]] = defaultdict(list)
    for placed in islice(come, _MOST_LEFT):
        by_length[_kind(placed[1])].append(placed)
    found = [
        (steps(before.value, placed[1].value), number, before, placed)
        for number, (_, before) in enumerate(islice(gone, _MOST_LEFT))
        if _is_telling(before)
        for placed in by_length[_kind(before)]
        if _is_telling(placed[1]) and is_twin(before.value, placed[1].value)
    ]
    for _, _, before, placed in sorted(found, key=lambda one: one[:2]):
        yield before, placed


def _kind(one: Identifier) -> tuple[str, int]:
    return one.shape, len(one.value)


def _is_telling(one: Identifier) -> bool:
    if one.shape in _WITHIN:
        return False
    is_counted = is_number(one.value) and one.party and len(one.value) >= _LONG_NUMBER
    return one.shape in _SHAPED or bool(is_counted)


def _same(gone: Sequence[Placed], come: Sequence[Placed]) -> Iterator[tuple[Identifier, Placed]]:
    """Another value under the same keys of the same file: of the same record first."""
    at: dict[tuple[str, str], list[Placed]] = defaultdict(list)
    for placed in come:
        at[placed[0], placed[1].path].append(placed)
    left = []
    for path, before in gone:
        if before.shape in _UNCERTAIN and not before.party:
            continue
        if before.party or before.shape in ("bank", "key", "wallet"):
            many = at.get((path, before.path), [])
            found = next(
                (one for one in many if one[1].row == before.row and _compares(before, one[1])), None
            )
            if found is None:
                left.append((path, before))
            else:
                many.remove(found)
                yield before, found
    for path, before in left:
        many = at.get((path, before.path), [])
        found = next((one for one in many if _compares(before, one[1])), None)
        if found is not None and before.shape not in _WITHIN:
            many.remove(found)
            yield before, found


def _compares(before: Identifier, after: Identifier) -> bool:
    """Are the two of one kind? A box or a room of another host is told as another address."""
    if before.shape != after.shape:
        return False
    if before.shape == "mail":
        return before.value.rpartition("@")[2] == after.value.rpartition("@")[2]
    return before.shape != "room" or before.value.partition(" ")[0] == after.value.partition(" ")[0]


def _moved(gone: Sequence[Placed], come: Sequence[Placed]) -> Iterator[tuple[Identifier, Placed]]:
    """Another value of the same party in another place: a bank account, or what one name stands for."""
    by_name: dict[tuple[str, str], list[Placed]] = defaultdict(list)
    for placed in come:
        by_name[_meant(placed[1])].append(placed)
    for path, before in gone:
        many = by_name.get(_meant(before)) if _meant(before)[0] else None
        if not many or is_broad(before.party) or before.shape in _WITHIN:
            continue
        if len(many) == 1 or before.shape == "bank":
            to, after = many[0]
            if (path, before.path) != (to, after.path):
                yield before, many[0]


def _meant(one: Identifier) -> tuple[str, str]:
    return ("bank", "bank") if one.shape == "bank" else (one.party, one.shape)


def is_slip(one: ChangedIdentity) -> bool:
    """Do the two differ in one character?"""
    return steps(one.before.value, one.after.value) <= _SLIPS
