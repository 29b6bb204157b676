"""Reads the forge's event payload as data: which two commits, and what the author says about them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.model.change import PullRequest
from gate.regex import regex

EVENT_BYTES: Final = 25 << 20
"""GitHub's own limit for a payload."""
_TEXT: Final = 262_144
_SHA: Final = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ADVICE: Final = "Run gate on pull_request, push or merge_group, or give --base and --head yourself."


class _Named(msgspec.Struct):
    name: str = ""


class _User(msgspec.Struct):
    login: str = ""


class _Repo(msgspec.Struct):
    id: int = 0


class _Side(msgspec.Struct):
    sha: str
    ref: str = ""
    repo: _Repo | None = None


class _Pull(msgspec.Struct):
    number: int
    base: _Side
    head: _Side
    title: str | None = None
    body: str | None = None
    labels: list[_Named] = msgspec.field(default_factory=list)
    user: _User | None = None
    draft: bool | None = None


class _Group(msgspec.Struct):
    base_sha: str
    head_sha: str
    head_ref: str = ""


class _Payload(msgspec.Struct):
    pull_request: _Pull | None = None
    merge_group: _Group | None = None
    before: str | None = None
    after: str | None = None
    ref: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """What to look at. ``base`` None: the push made a new branch, so nothing names its base."""

    base: str | None
    head: str
    branch: str | None
    pull_request: PullRequest | None = None


def read_event(path: Path) -> Event:
    """The event in a GitHub payload file (``GITHUB_EVENT_PATH``).

    Understands pull_request, pull_request_target, merge_group and push. Wrong types, missing
    object names and files beyond EVENT_BYTES are refused. Raises UsageError.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(EVENT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read the event {path}: {error.strerror}", advice=_ADVICE) from error
    if len(raw) > EVENT_BYTES:
        raise UsageError(f"the event {path} is larger than {EVENT_BYTES} bytes", advice=_ADVICE)
    return parse_event(raw)


_PAYLOAD: Final = msgspec.json.Decoder(_Payload)
"""Made known before there are threads: two that make msgspec learn a type at once crash (seen with 0.22)."""


def parse_event(raw: bytes) -> Event:
    """Like read_event, from the payload's bytes."""
    try:
        payload = _PAYLOAD.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"the event is not a GitHub payload: {ascii(str(error))[:200]}", advice=_ADVICE
        ) from error
    if payload.pull_request:
        return _pull_event(payload.pull_request)
    if payload.merge_group:
        group = payload.merge_group
        return Event(base=_sha(group.base_sha), head=_sha(group.head_sha), branch=_short(group.head_ref))
    if payload.after:
        before = payload.before or ""
        return Event(
            base=_sha(before) if before.strip("0") else None,
            head=_sha(payload.after),
            branch=_short((payload.ref or "").removeprefix("refs/heads/")),
        )
    raise UsageError("the event names no commits", advice=_ADVICE)


def _pull_event(pull: _Pull) -> Event:
    base, head = pull.base, pull.head
    return Event(
        base=_sha(base.sha),
        head=_sha(head.sha),
        branch=_short(head.ref),
        pull_request=PullRequest(
            number=pull.number,
            title=(pull.title or "")[:_TEXT],
            body=(pull.body or "")[:_TEXT],
            labels=tuple(label.name[:200] for label in pull.labels[:100]),
            author=(pull.user.login if pull.user else "")[:200],
            branch=head.ref[:1000],
            base_branch=base.ref[:1000],
            base_sha=_sha(base.sha),
            head_sha=_sha(head.sha),
            # A deleted fork has no repository any more: treat it as foreign.
            from_fork=head.repo is None or base.repo is None or head.repo.id != base.repo.id,
            draft=bool(pull.draft),
        ),
    )


def _sha(text: str) -> str:
    if not _SHA.fullmatch(text) or not text.strip("0"):
        raise UsageError(f"the event's object name is malformed: {ascii(text)[:80]}", advice=_ADVICE)
    return text


def _short(text: str) -> str | None:
    return text[:1000] or None
