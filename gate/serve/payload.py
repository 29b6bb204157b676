"""The few members of a webhook that are read; all of them are GitHub's word, as the signature held."""

from __future__ import annotations

from typing import Final

import msgspec

from gate.github.interface import repository
from gate.serve.interface import Delivery, HopelessError


class Installation(msgspec.Struct):
    """Where the App is installed."""

    id: int


class Repository(msgspec.Struct):
    """``owner/name``."""

    full_name: str


class Deployment(msgspec.Struct):
    """A deployment that waits."""

    sha: str


class App(msgspec.Struct):
    """Who made a check."""

    id: int = 0


class Suite(msgspec.Struct):
    """A check suite."""

    head_sha: str
    app: App | None = None


class CheckRun(msgspec.Struct):
    """A check run."""

    head_sha: str
    app: App | None = None


class Side(msgspec.Struct):
    """Head or base."""

    sha: str = ""
    ref: str = ""


class Pull(msgspec.Struct):
    """A pull request."""

    head: Side
    number: int = 0
    base: Side | None = None
    merge_commit_sha: str | None = None


class Group(msgspec.Struct):
    """An entry of a merge queue; refs in full."""

    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str


class Issue(msgspec.Struct):
    """An issue, or (with ``pull_request``) the conversation of a pull request."""

    number: int
    pull_request: dict[str, object] | None = None


class Comment(msgspec.Struct):
    """A comment."""

    body: str | None = None


class _Before(msgspec.Struct, rename={"was": "from"}):
    was: str | None = None


class Changes(msgspec.Struct):
    """What an edit changed."""

    base: dict[str, object] | None = None
    body: _Before | None = None


class Pressed(msgspec.Struct):
    """The button that was pressed."""

    identifier: str = ""


class Sender(msgspec.Struct):
    """Who did it."""

    login: str = ""
    type: str = "User"


class Payload(msgspec.Struct):
    """A webhook's body."""

    repository: Repository
    installation: Installation
    action: str = ""
    environment: str = ""
    sha: str = ""
    deployment: Deployment | None = None
    deployment_callback_url: str = ""
    check_suite: Suite | None = None
    check_run: CheckRun | None = None
    requested_action: Pressed | None = None
    merge_group: Group | None = None
    pull_request: Pull | None = None
    issue: Issue | None = None
    comment: Comment | None = None
    changes: Changes | None = None
    sender: Sender | None = None

    @property
    def commands(self) -> bool:
        """A comment of a pull request that wants, or wanted before it was edited, something of us."""
        was = self.changes.body.was if self.changes is not None and self.changes.body is not None else None
        texts = (self.comment.body if self.comment is not None else None, was)
        about_pull = self.issue is not None and self.issue.pull_request is not None
        return about_pull and any((text or "").lstrip().startswith("/gate ") for text in texts)


# msgspec learns a type when it first meets it, and two threads that make it do so at once crash the process
# (seen with 0.22): what worker threads decode is made known here, before there are any.
_PAYLOAD: Final = msgspec.json.Decoder(Payload)


def payload(delivery: Delivery) -> Payload:
    """What a delivery says. Raises HopelessError for one that is no payload of its event."""
    try:
        told = _PAYLOAD.decode(delivery.body)
        repository(told.repository.full_name)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise HopelessError(f"not a payload of {delivery.event}") from error
    return told
