"""What happened to a pull request besides plain pushes, as GitHub's list of its events tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from gate.errors import UsageError
from gate.github.interface import Api, path, repository
from gate.github.target import PullNow, User

MOST_EVENTS: Final = 5_000
"""Whoever makes more of them hides later ones: nothing that rests on events holds then."""
BASE_MOVES: Final = frozenset({"base_ref_changed", "automatic_base_change_succeeded"})
MOVES: Final = BASE_MOVES | {
    "head_ref_force_pushed", "head_ref_restored", "base_ref_force_pushed", "reopened",
}  # fmt: skip
"""Events that set head or base otherwise than by a plain push."""


class Event(msgspec.Struct):
    """One event; ``actor`` did it."""

    event: str
    created_at: str
    actor: User | None = None
    assignee: User | None = None
    requested_reviewer: User | None = None
    review_requester: User | None = None


def events(api: Api, target: PullNow) -> Sequence[Event]:
    """All of them, oldest first; MOST_EVENTS of them: there may be more."""
    where = path("repos", *repository(target.repo), "issues", target.number, "events")
    return list(api.pages(where, Event, most=MOST_EVENTS))


def last(found: Iterable[Event], kinds: frozenset[str]) -> datetime | None:
    """When one of these kinds happened last. Raises UsageError for a time that is none."""
    return max((time_of(event.created_at) for event in found if event.event in kinds), default=None)


def time_of(text: str) -> datetime:
    """A time as GitHub writes it. Raises UsageError."""
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"GitHub sent a time that is none: {ascii(text)[:60]}") from error
