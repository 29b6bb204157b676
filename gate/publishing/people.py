"""Overrides that people asked for in comments: who may, for which commit (GH-4, GH-13)."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import Final

from gate.errors import UsageError
from gate.forge import checks
from gate.forge.comment import Comment
from gate.forge.interface import Api, MissingError, NotAllowedError
from gate.forge.target import PullNow, authors, role
from gate.model.override import Override, OverrideDecision
from gate.policy.override import is_command, parse_command

MOST_COMMANDS: Final = 20
"""Of one pull request; older ones are not looked at."""
_RANKS: Final = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}


def first_told(api: Api, pull: PullNow, me: str) -> datetime | None:
    """When our verdict on the pull request's head commit was first published; None: not yet.

    An override must be younger: it is then about this commit, and a new push leaves it behind.
    """
    times = []
    with contextlib.suppress(NotAllowedError, MissingError):
        for run in checks.check_runs(api, pull.repo, pull.head_sha):
            stamp = run.stamp()
            mine = run.app is not None and f"{run.app.slug}[bot]" == me
            if mine and stamp is not None and stamp.head == pull.head_sha and run.completed_at:
                times.append(_time(run.completed_at))
    with contextlib.suppress(NotAllowedError, MissingError):
        times += [_time(s.created_at) for s in checks.statuses(api, pull.repo, pull.head_sha) if s.by(me)]
    return min(times, default=None)


def asked(
    api: Api, pull: PullNow, conversation: list[Comment], *, since: datetime | None, least: str
) -> tuple[list[Override], list[OverrideDecision]]:
    """What was asked for by people entitled to it, and every other attempt with why it does not count.

    ``since``: see first_told. ``least``: the role one needs. Deleted comments are simply not there.
    """
    commands = [c for c in conversation if is_command(c.body or "")][-MOST_COMMANDS:]
    accepted: list[Override] = []
    refused: list[OverrideDecision] = []
    wrote = authors(api, pull) if commands else frozenset()
    for comment in commands:
        one, why = _judge(comment, pull, since, wrote)
        if not why and _RANKS[role(api, pull.repo, one.by)] < _RANKS[least]:
            why = f"its author has not the role {least}"
        if why:
            refused.append(OverrideDecision(override=one, accepted=False, refused=why))
        else:
            accepted.append(one)
    return accepted, refused


def _judge(
    comment: Comment, pull: PullNow, since: datetime | None, wrote: frozenset[str]
) -> tuple[Override, str]:
    by = comment.user.login if comment.user else ""
    try:
        what, sha, reason = parse_command(comment.body or "")
    except UsageError as error:
        one = Override(what="?", reason="", by=by, source="comment", where=comment.html_url)
        return one, error.message
    one = Override(what=what, reason=reason, by=by, source="comment", where=comment.html_url)
    why = ""
    if comment.user is None or comment.user.type != "User":
        why = "only people can override"
    elif comment.edited:
        why = "the comment was edited"
    elif by.lower() in wrote:
        why = "it is by an author of the change"
    elif sha is not None and not pull.head_sha.startswith(sha):
        why = "it is for another commit"
    elif since is None or _time(comment.created_at) <= since:
        why = "it is older than the verdict on this commit"
    return one, why


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"GitHub sent a time that is none: {ascii(text)[:60]}") from error
