"""What head grants that base does not, and what base guards that head does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from gate.infrastructure.facts import SUPERSEDED, Fact, FileFacts
from gate.infrastructure.widths import ANYBODY, Grown, grown

_ITSELF: Final = frozenset(("switched-on", "csrf-token", "integrity"))
"""Guards of something that may be gone itself: a setting (its default may be as good), a form, a script."""

_BY_NAME: Final = frozenset(("copied-elsewhere", "login-key", "tool-code"))
"""Grants that another one, which went away, does not make up for: it is somebody else's."""


class FactDifference(NamedTuple):
    """``at`` is the file and line of head; ``before`` and ``after`` are what both say (empty: nothing)."""

    sort: Literal["granted", "lost", "wider"]
    fact: Fact
    path: str
    line: int
    before: str
    after: str


def differences(
    base: Mapping[str, FileFacts], head: Mapping[str, FileFacts], now_at: Mapping[str, str]
) -> Iterator[FactDifference]:
    """Over all changed files at once, so that what was moved is not new. ``now_at``: base's paths at head.

    A grant is new where neither its subject nor another one that went away had it. A guard is lost where what
    it guarded is still there. ``SUPERSEDED`` grants are told where base had the guard instead.
    """
    had = Counter(fact.what for facts in base.values() for fact in facts.facts if fact.sort == "grant")
    have = Counter(fact.what for facts in head.values() for fact in facts.facts if fact.sort == "grant")
    known = {_key(fact, now_at) for facts in base.values() for fact in facts.facts}
    guarded = {(fact.what, _subject(fact, now_at)) for facts in base.values() for fact in facts.facts}
    superseded: set[tuple[str, str]] = set()
    everything: set[str] = set()
    for path, facts in head.items():
        for fact in facts.facts:
            if fact.sort != "grant" or _key(fact, {}) in known:
                continue
            instead = SUPERSEDED.get(fact.what)
            if instead is not None:
                if (instead, fact.subject) not in guarded:
                    continue
                superseded.add((instead, fact.subject))
            elif have[fact.what] <= had[fact.what] and fact.what not in _BY_NAME:
                continue
            everything |= {path} if fact.what == "every-right" else set()
            yield FactDifference("granted", fact, path, fact.line, "", fact.text)
    yield from _lost(base, head, now_at)
    for one in grown(base, head, lambda subject: _moved(subject, now_at)):
        if one.width.what != "more-rights" or one.path not in everything:
            yield _wider(one)


def _lost(
    base: Mapping[str, FileFacts], head: Mapping[str, FileFacts], now_at: Mapping[str, str]
) -> Iterator[FactDifference]:
    kept = {_key(fact, {}) for facts in head.values() for fact in facts.facts}
    there = {subject: path for path, facts in head.items() for subject in facts.subjects}
    for facts in base.values():
        for fact in facts.facts:
            if fact.sort != "guard" or _key(fact, now_at) in kept or fact.what in SUPERSEDED.values():
                continue
            subject = _subject(fact, now_at)
            found = there.get(subject) or _owner(subject, fact, there)
            if found is not None:
                line = _line_at(head[found], subject)
                yield FactDifference("lost", fact, found, line, fact.text, "")


def _wider(one: Grown) -> FactDifference:
    """As a difference like the others: a grant, with the members that came as its evidence."""
    width = one.width
    what = "anybody" if width.what == "trusted" and ANYBODY.intersection(one.new) else width.what
    came = "gone" if what == "covered" else "new"
    after = f"{width.text} ({came}: {', '.join(one.new)})"[:300] if one.new else width.text
    fact = Fact("grant", what, width.subject, width.line, width.text)
    return FactDifference("wider", fact, one.path, width.line, one.before, after)


def _subject(fact: Fact, now_at: Mapping[str, str]) -> str:
    return _moved(fact.subject, now_at)


def _moved(subject: str, now_at: Mapping[str, str]) -> str:
    """A subject that begins with a file's path follows the file."""
    first, mark, rest = subject.partition(" ")
    return f"{now_at.get(first, first)}{mark}{rest}"


def _key(fact: Fact, now_at: Mapping[str, str]) -> tuple[str, str]:
    return fact.what, _subject(fact, now_at)


def _owner(subject: str, fact: Fact, there: Mapping[str, str]) -> str | None:
    """The file with what a guard belonged to: ``Deployment/web app drop`` belongs to ``Deployment/web``."""
    if fact.what in _ITSELF:
        return None
    words = subject.split(" ")
    for end in range(len(words) - 1, 0, -1):
        if found := there.get(" ".join(words[:end])):
            return found
    return None


def _line_at(facts: FileFacts, subject: str) -> int:
    """Of what was guarded: where it says something else now, or else where what it belongs to begins."""
    said = {**facts.places, **{fact.subject: fact.line for fact in reversed(facts.facts)}}
    words = subject.split(" ")
    owners = (" ".join(words[:end]) for end in range(len(words), 0, -1))
    return next((said[owner] for owner in owners if owner in said), 1)
