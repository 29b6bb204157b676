"""Whose an answer is and who gets something: keys, receivers and counts of base against those of head."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from gate.languages.grammars import is_read
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_no_product
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.owners.bounds import is_wider
from gate.prescreen.owners.read import Owned
from gate.prescreen.read_files import SEARCHED, first_files, read_files
from gate.prescreen.scanners.collisions import COLLIDES
from gate.prescreen.scanners.identities import CHANGED
from gate.prescreen.scanners.protections import REMOVED
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.regex import regex

_READER: Final = Reader("gate.prescreen.owners.read:read", list[Owned], parses=True, pure=True)
_MATTERS: Final = regex(
    rb"(?i)cache|redis|memo|limit|throttl|bucket|payout|payee|recipient|beneficiar|settle|destination|iban|receiver"
    rb"|_to\b|\bto\b|wallet|hook|callback|approv|vote|sign|review|confirm|quorum|\bb?cc\b|update\b|lock|mail|sms|[<>]"
)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST: Final = 3

_ByPlace = dict[tuple[str, str], list[Owned]]


class Owners:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "owners"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the places of all changed programs, function by function."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if _matters(one)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        base = read_files(_READER, [(one.path, one.base or b"") for one in files], until)
        some = [one for one in files if base.get(one.path)]
        head = read_files(_READER, [(one.path, one.head) for one in some], until, unread)
        found: list[Finding] = []
        for source in some:
            if source.path in head:
                found += [*_told(source, base[source.path], head[source.path])][:_MOST]
        return ended(self.name, found, unread)


def _matters(source: Source) -> bool:
    path = source.path
    if source.base is None or not is_read(path) or is_no_product(path) or is_example(path):
        return False
    large = len(source.head) > SEARCHED
    return source.base != source.head and (large or _MATTERS.search(source.base) is not None)


def _told(source: Source, old: list[Owned], new: list[Owned]) -> Iterator[Finding]:
    yield from _keys(source, _of(old, "cache"), _of(new, "cache"))
    yield from _limits(source, _of(old, "limit"), _of(new, "limit"))
    yield from _receivers(source, _of(old, "receiver"), _of(new, "receiver"))
    yield from _copies(source, old, new)
    yield from _wider(source, old, new)
    yield from _gone(source, _of(old, "distinct"), _of(new, "distinct"), _DISTINCT)
    yield from _gone(source, _of(old, "locked"), _of(new, "locked"), _LOCKED)


def _of(many: list[Owned], what: str) -> _ByPlace:
    found: _ByPlace = defaultdict(list)
    for one in many:
        if one.what == what:
            found[one.function, one.name].append(one)
    return found


def _keys(source: Source, old: _ByPlace, new: _ByPlace) -> Iterator[Finding]:
    """A cache whose keys named an owner at every place of a function, and name none at one of head."""
    told: set[str] = set()
    for place, before in old.items():
        owners = {word for one in before for word in one.words}
        if place[0] in told or not all(one.words for one in before):
            continue
        for one in new.get(place, []):
            if not one.words:
                told.add(place[0])
                evidence = {
                    "before": before[0].text,
                    "after": one.text,
                    "no longer": ", ".join(sorted(owners)),
                }
                yield finding(
                    COLLIDES,
                    "A cache's key no longer names whose the answer is.",
                    Location(path=source.path, line=one.line),
                    shape=f"cache key {place[0]} {one.text}"[:300],
                    evidence={"function": place[0] or "the module", **evidence},
                )
                break


def _limits(source: Source, old: _ByPlace, new: _ByPlace) -> Iterator[Finding]:
    for place, before in old.items():
        if any(one.words for one in before):
            continue
        one = next((one for one in new.get(place, []) if one.words), None)
        if one is not None:
            yield finding(
                REMOVED,
                "A limit counts by what whoever asks may choose.",
                Location(path=source.path, line=one.line),
                shape=f"limit key {place[0]} {one.text}"[:300],
                evidence={"function": place[0] or "the module", "before": before[0].text, "after": one.text},
                severity=Severity.MEDIUM,
            )


def _receivers(source: Source, old: _ByPlace, new: _ByPlace) -> Iterator[Finding]:
    for place, before in old.items():
        had = {word for one in before for word in one.words}
        for one in new.get(place, []):
            fresh = [word for word in one.words if word not in had]
            if fresh and not had:
                yield finding(
                    CHANGED,
                    "Who gets it may be chosen by what was sent along.",
                    Location(path=source.path, line=one.line),
                    shape=f"receiver {place[0]} {place[1]} {fresh[0]}"[:300],
                    evidence={
                        "name": place[1],
                        "before": before[0].text,
                        "after": one.text,
                        "from": fresh[0],
                    },
                    severity=Severity.MEDIUM,
                )
                break


def _copies(source: Source, old: list[Owned], new: list[Owned]) -> Iterator[Finding]:
    """Somebody who gets the same besides, in a function of base that already sent it to somebody."""
    sends = {one.function for one in old if one.what in ("receiver", "copy")}
    had = {(one.function, one.name, one.text) for one in old}
    copied = {(one.function, one.name) for one in old if one.what == "copy"}
    for one in new:
        fresh = one.what == "copy" and (one.function, one.name, one.text) not in had
        if fresh and one.function in sends and (one.function, one.name) not in copied:
            yield finding(
                CHANGED,
                "Somebody else gets a copy of what is sent.",
                Location(path=source.path, line=one.line),
                shape=f"copy {one.function} {one.name}"[:300],
                evidence={"function": one.function or "the module", "name": one.name, "after": one.text},
                severity=Severity.MEDIUM,
            )
            break


def _wider(source: Source, old: list[Owned], new: list[Owned]) -> Iterator[Finding]:
    """A limit in a refusal that lost what was taken from it, or a demand that lost what was added."""
    had = [one for one in old if one.what == "bound"]
    has = [one for one in new if one.what == "bound"]
    kept = {(one.function, one.name, *one.words) for one in has}
    for one in has:
        if any((one.function, one.text) == (other.function, other.text) for other in had):
            continue
        for other in had:
            if other.function != one.function or (other.function, other.name, *other.words) in kept:
                continue
            term = is_wider((other.name.split(), other.words), (one.name.split(), one.words))
            if term:
                yield finding(
                    REMOVED,
                    "A limit is wider: what was counted against it is not any more.",
                    Location(path=source.path, line=one.line),
                    shape=f"bound {one.function} {term}"[:300],
                    evidence={
                        "function": one.function,
                        "before": other.text,
                        "after": one.text,
                        "gone": term,
                    },
                    severity=Severity.MEDIUM,
                )
                return


_DISTINCT: Final = "What was counted once for each person may count several times."
_LOCKED: Final = "Rows that are changed are no longer locked before: two requests at once read the same."


def _gone(source: Source, old: _ByPlace, new: _ByPlace, told: str) -> Iterator[Finding]:
    """What a function that is still there did at base, and does not do at head."""
    text = source.head.decode("utf-8", "replace")
    for (function, _), before in old.items():
        if (function, "") in new or not function or not re.search(rf"\b{re.escape(function)}\b", text):
            continue
        line = text.count("\n", 0, text.find(function)) + 1
        yield finding(
            REMOVED,
            told,
            Location(path=source.path, line=line),
            shape=f"{before[0].what} {function}",
            evidence={"function": function, "before": before[0].text},
            severity=Severity.MEDIUM,
        )
