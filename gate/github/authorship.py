"""Who made a pull request: everybody whose own word about it must not count (docs/trust.md).

All commits are read, page by page, and their number is checked: the list of a pull request ends at 250.
GitHub's API names no co-authors, so trailers are read as text; a name or address that *may* be somebody's is
enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from gate.dataclass import dataclass
from gate.github.events import MOST_EVENTS, MOVES, Event, events, last
from gate.github.interface import Api, MissingError, path, repository
from gate.github.target import PullNow, compare

MOST_COMMITS: Final = 5_000
_TRAILER: Final = "co-authored-by:"
_NOREPLY: Final = "@users.noreply.github.com"
_NO_AGENTS: Final = frozenset({"dependabot[bot]", "renovate[bot]", "github-actions[bot]", "web-flow"})
"""Bots that nobody prompts: who is asked to review their work did not ask for it."""
_PUSHES: Final = frozenset({"head_ref_force_pushed", "head_ref_restored"})
"""Whoever did this chose the head, whatever its commits say of their authors."""


class _Signature(msgspec.Struct):
    name: str = ""
    email: str = ""


class _Text(msgspec.Struct):
    message: str = ""
    author: _Signature | None = None
    committer: _Signature | None = None


class _Account(msgspec.Struct):
    login: str = ""


class _Commit(msgspec.Struct):
    """``author``, ``committer``: null or an empty object where no account has the address."""

    sha: str
    commit: _Text
    author: _Account | None = None
    committer: _Account | None = None


class _Person(msgspec.Struct):
    login: str
    name: str | None = None
    email: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Authors:
    """``logins``: accounts, lower case. ``marks``: names and addresses that no account was named for.

    ``whole``: every commit and event was read. ``moved``: when head or base was last set by anything but a
    plain push.
    """

    logins: frozenset[str]
    marks: frozenset[str]
    whole: bool
    moved: datetime | None


def authors(api: Api, target: PullNow) -> Authors:
    """Who opened it, wrote or co-wrote a commit of it, or asked a coding agent for it."""
    happened = events(api, target)
    logins, marks, count = {target.author}, set[str](), 0
    where = path("repos", *repository(target.repo), "compare", f"{target.base_sha}...{target.head_sha}")
    total = compare(api, target.repo, target.base_sha, target.head_sha).total_commits
    for commit in api.pages(where, _Commit, key="commits", most=MOST_COMMITS):
        count += 1
        logins |= {user.login for user in (commit.author, commit.committer) if user and user.login}
        unknown = [s for s, u in _signatures(commit) if s is not None and not (u and u.login)]
        for name, email in (*((s.name, s.email) for s in unknown), *_co_authors(commit.commit.message)):
            account = _account(email)
            logins |= {account} if account else set()
            marks |= {name, email}
    if target.author_type == "Bot" and target.author.lower() not in _NO_AGENTS:
        logins |= {*target.assigned, *_prompters(happened)}
    logins |= {event.actor.login for event in happened if event.actor and event.event in _PUSHES}
    return Authors(
        logins=frozenset(login.lower() for login in logins) - {"", "web-flow"},
        marks=frozenset(mark.strip().casefold() for mark in marks) - {"", "github", "noreply@github.com"},
        whole=count >= total and len(happened) < MOST_EVENTS,
        moved=last(happened, MOVES),
    )


def may_be_author(api: Api, login: str, found: Authors) -> bool:
    """Is this account, or somebody who shows its name or address, among them?"""
    if login.lower() in found.logins or login.casefold() in found.marks:
        return True
    if not found.marks:
        return False
    try:
        person = api.get(path("users", login), _Person)
    except MissingError:
        return True  # nobody knows who that is
    shown = {(text or "").strip().casefold() for text in (person.name, person.email)}
    return bool(shown & found.marks)


def _signatures(commit: _Commit) -> Sequence[tuple[_Signature | None, _Account | None]]:
    return (commit.commit.author, commit.author), (commit.commit.committer, commit.committer)


def _co_authors(message: str) -> Iterable[tuple[str, str]]:
    """(name, address) of every co-author trailer, wherever it stands."""
    for line in message.splitlines():
        text = line.strip()
        if text.lower().startswith(_TRAILER):
            name, _, rest = text[len(_TRAILER) :].partition("<")
            yield name.strip(), rest.partition(">")[0].strip()


def _account(email: str) -> str:
    """The login in an address like ``1234+wren@users.noreply.github.com``, else nothing."""
    return email[: -len(_NOREPLY)].rpartition("+")[2] if email.lower().endswith(_NOREPLY) else ""


def _prompters(happened: Iterable[Event]) -> Iterable[str]:
    """Who was ever assigned, or asked by the agent to review, or set it to work."""
    for event in happened:
        if event.event == "assigned" and event.assignee:
            yield event.assignee.login
        if event.event == "review_requested" and event.requested_reviewer:
            yield event.requested_reviewer.login
        if event.event.startswith("copilot_work_started") and event.actor:
            yield event.actor.login
