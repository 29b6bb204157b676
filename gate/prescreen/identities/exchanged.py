"""Parties that change places: each of them stands at base and at head, only not for the same record.

Nothing is new, so neither a list of known accounts nor a run tells it. What tells it is the key: the same
field of the same record (a row of a table by its id, an entry of a list by its name) is another one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from gate.prescreen.identities.literals import Identifier
from gate.prescreen.identities.names import words_of
from gate.prescreen.identities.written import UNNAMED

Exchange = tuple[Literal["exchanged", "taken"], str, Identifier, Identifier]
_Key = tuple[str, str, str]
_SHAPED: Final = frozenset({"bank", "key", "wallet", "mail", "room", "prefixed"})
_ROUTES: Final = frozenset({
    "queue", "queues", "topic", "topics", "channel", "channels", "stream", "exchange", "routing",
    "mailbox", "inbox",
    "recipient", "recipients", "payee", "account", "accounts", "bank", "partner", "bucket", "signer",
    "registry", "tenant",
    "org", "project", "webhook", "hook", "room", "supplier", "provider", "broker", "warehouse",
    "environment", "cluster",
})  # fmt: skip
"""Words of names whose values say where something goes."""
_MOST: Final = 5


def exchanged(
    base: Mapping[str, Sequence[Identifier]], head: Mapping[str, Sequence[Identifier]]
) -> Iterator[Exchange]:
    """Fields whose value is the one that another field of the same file had. Two that did so with each other
    are told once.
    """
    for path, many in head.items():
        old, new = _single(base.get(path, ())), _single(many)
        places: dict[tuple[str, str], list[_Key]] = defaultdict(list)
        for key, one in old.items():
            places[one.value, one.shape].append(key)
        told: set[_Key] = set()
        count = 0
        for key, after in new.items():
            before = old.get(key)
            if before is None or before.value == after.value or before.shape != after.shape or key in told:
                continue
            others = [at for at in places[after.value, after.shape] if at != key and _alike(at, key)]
            back = next((at for at in others if at in new and new[at].value == before.value), None)
            if back is not None and _tells(key, after) and count < _MOST:
                told.add(back)
                count += 1
                yield "exchanged", path, before, after
            elif others and _is_party(after) and _is_kept(others, new, after) and count < _MOST:
                count += 1
                yield "taken", path, before, after


def _single(many: Sequence[Identifier]) -> dict[_Key, Identifier]:
    """The identifiers that stand alone under their keys."""
    found: dict[_Key, list[Identifier]] = defaultdict(list)
    for one in many:
        if one.path and not one.path.endswith(UNNAMED):
            found[one.path, one.row, "octets" if one.shape == "octets" else ""].append(one)
    return {key: rows[0] for key, rows in found.items() if len({one.value for one in rows}) == 1}


def _alike(one: _Key, other: _Key) -> bool:
    """Is it the same field of another record, or another field beside it?"""
    return one[0].rpartition("\x1f")[2] == other[0].rpartition("\x1f")[2] or (
        one[0].rpartition("\x1f")[0] == other[0].rpartition("\x1f")[0] and one[1] == other[1]
    )


def _is_party(one: Identifier) -> bool:
    return one.shape in _SHAPED or (one.shape not in ("word", "figures", "octets") and bool(one.party))


def _tells(key: _Key, one: Identifier) -> bool:
    """Is it a party, or do the names on the way say that something goes there?"""
    if _is_party(one):
        return True
    words = {word for name in key[0].split("\x1f") for word in words_of(name).split("-")}
    return one.shape == "word" and not words.isdisjoint(_ROUTES)


def _is_kept(others: Sequence[_Key], new: Mapping[_Key, Identifier], after: Identifier) -> bool:
    """Does the other record still have the value too?"""
    return any(at in new and new[at].value == after.value for at in others)
