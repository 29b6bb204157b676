"""What the stand-in knows: people, pull requests, comments, checks. Tests write and read it directly."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

OWNER, REPO, REPO_ID = "octo", "shop", 4200
APP_BOT = "github-actions[bot]"
TREE = "7" * 40
"""The tree of a commit that a test says nothing else about."""
HEAD, BASE = "9d41e07ac2b8f3561f0e9d8c7b6a5948372615fe", "3f2a9c1e5b7d8f60a1b2c3d4e5f60718293a4b5c"


def stamp() -> str:
    """Now, as GitHub writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(kw_only=True)
class Actor:
    """Whom a token speaks for. ``permissions`` None: a person's token, bounded by the person's role."""

    login: str
    id: int = 1
    type: Literal["User", "Bot"] = "User"
    permissions: Mapping[str, str] | None = None


@dataclass(kw_only=True)
class Pull:
    number: int
    author: str = "mina"
    head_sha: str = HEAD
    base_sha: str = BASE
    head_ref: str = "feature"
    base_ref: str = "main"
    head_owner: str = OWNER
    head_repo_id: int | None = REPO_ID
    state: str = "open"
    title: str = "Change prices"
    body: str | None = None
    labels: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    merged_as: str | None = None
    files: list[str] = field(default_factory=lambda: ["src/pricing/cart.py"])
    commit_authors: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    """The commits' messages, as far as a test gives them."""
    created: str = "2026-01-02T00:00:00Z"
    author_type: Literal["User", "Bot"] = "User"
    assignees: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    """``event``, ``created_at`` and who (logins) of what happened to it."""
    patches: dict[str, str] = field(default_factory=dict)
    """Path to its part of the difference."""
    reviews: list[dict[str, Any]] = field(default_factory=list)
    """Review comments, each with the author's login and the commit."""


@dataclass(kw_only=True)
class Comment:
    id: int
    number: int
    author: Actor
    body: str
    app: bool = False
    """Written through an app in the person's name."""
    association: str = "NONE"
    created: str = field(default_factory=stamp)
    updated: str = ""

    def __post_init__(self) -> None:
        self.updated = self.updated or self.created


@dataclass(kw_only=True)
class Fault:
    """What goes wrong instead of (or, with ``after``, behind) the real answer.

    ``how``: ``status`` answers with status, headers and body; ``hang`` says nothing for ``seconds``;
    ``cut`` ends the JSON in the middle; ``drip`` sends a byte every 50 ms; ``close`` hangs up.
    """

    how: Literal["status", "hang", "cut", "drip", "close"] = "status"
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = '{"message": "Server Error"}'
    seconds: float = 5.0
    after: bool = False
    method: str = ".*"
    path: str = ".*"
    times: int = 1

    def meets(self, method: str, path: str) -> bool:
        hit = re.fullmatch(self.method, method) and re.fullmatch(self.path, path)
        return bool(self.times > 0 and hit)


@dataclass(kw_only=True)
class Asked:
    """One request that arrived."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    token: str


@dataclass(kw_only=True)
class World:
    """Everything; one lock around every request."""

    actors: dict[str, Actor] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    checks: dict[int, dict[str, Any]] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    sarifs: dict[str, dict[str, Any]] = field(default_factory=dict)
    runs: dict[int, dict[str, Any]] = field(default_factory=dict)
    trees: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """Commit to (tree, parents)."""
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """(commit, path) to bytes."""
    artifacts: dict[int, tuple[int, str, bytes]] = field(default_factory=dict)
    """Id to (run, name, archive)."""
    apps: dict[int, str] = field(default_factory=dict)
    """App id to its public key (PEM)."""
    merge_bases: dict[tuple[str, str], str] = field(default_factory=dict)
    """(base, head) to their merge base, where that is not base."""
    older: set[tuple[str, str]] = field(default_factory=set)
    """(old, new): commits of which the first is an ancestor of the second."""
    people: dict[str, dict[str, str]] = field(default_factory=dict)
    """Login to the name and email that the account shows."""
    branches: dict[str, str] = field(default_factory=dict)
    """Branch to its tip."""
    reviews: list[dict[str, Any]] = field(default_factory=list)
    """Answers to deployment protection rules, in order."""
    faults: list[Fault] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    ids: Callable[[], int] = field(default_factory=lambda: itertools.count(1000).__next__)

    def actor(self, token: str, login: str, **more: Any) -> str:
        """A new token; returns it."""
        self.actors[token] = Actor(login=login, id=self.ids(), **more)
        return token

    def job(self, token: str = "job-token", **permissions: str) -> str:
        """A workflow's GITHUB_TOKEN with these permissions (``issues="write"``)."""
        return self.actor(token, APP_BOT, type="Bot", permissions=permissions)

    def comment(self, number: int, author: Actor, body: str) -> Comment:
        """A comment that is already there."""
        made = Comment(id=self.ids(), number=number, author=author, body=body)
        self.comments[made.id] = made
        return made

    def run(self, path: str = ".github/workflows/gate-check.yml", **more: Any) -> int:
        """A finished workflow run for the pull request's head, begun now; returns its id."""
        number = self.ids()
        told = {"event": "pull_request", "head_sha": HEAD, "head_branch": "feature", "head_owner": OWNER}
        told["created_at"] = stamp()
        self.runs[number] = told | {"id": number, "path": path, "status": "completed"} | more
        return number

    def on(self, number: int) -> list[Comment]:
        """The comments of one pull request, oldest first."""
        return [c for c in self.comments.values() if c.number == number]

    def sent(self, method: str, path: str) -> list[Asked]:
        """Requests that arrived, by method and path pattern."""
        return [a for a in self.asked if a.method == method and re.fullmatch(path, a.path)]
