"""Overrides that people asked for in comments: who may, for which commit (GH-4, GH-13, docs/trust.md)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from gate.errors import UsageError
from gate.github.authorship import Authors, authors, may_be_author
from gate.github.comment import Comment
from gate.github.events import time_of
from gate.github.interface import Api
from gate.github.target import PullNow, role
from gate.model.override import Override, OverrideDecision
from gate.policy.override import EVIDENCE, is_command, parse_command
from gate.settings import OverrideSettings

MOST_PEOPLE: Final = 100
"""People whose role is asked for; those whom GitHub calls owner, member or collaborator come first."""
MOST_REFUSED: Final = 20
"""Refused attempts that are shown."""
_RANKS: Final = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}
_NEARNESS: Final = {"OWNER": 0, "MEMBER": 1, "COLLABORATOR": 2, "CONTRIBUTOR": 3}


def commands(conversation: Sequence[Comment]) -> tuple[Comment, ...]:
    """The comments that want something of us."""
    return tuple(comment for comment in conversation if is_command(comment.body or ""))


def requested_overrides(
    api: Api, pull: PullNow, found: Sequence[Comment], *, since: datetime | None, rules: OverrideSettings
) -> tuple[list[Override], list[OverrideDecision]]:
    """What was asked for by people entitled to it, and every other attempt with why it does not count.

    ``found``: see commands; all of them are judged. ``since``: when our verdict on this head, against this
    base, was first published (None: not yet). An override must be younger than that, and than the last event
    that set head or base otherwise than by a plain push.
    """
    accepted: list[Override] = []
    refused: list[OverrideDecision] = []
    if not found:
        return accepted, refused
    wrote = authors(api, pull)
    ranks: dict[str, int] = {}
    for comment in sorted(found, key=lambda c: (_NEARNESS.get(c.author_association, 9), c.id)):
        one, why = _judge(comment, pull, since, wrote)
        why = why or _entitled(api, pull, one, wrote, rules, ranks)
        if not why:
            accepted.append(one)
        elif len(refused) < MOST_REFUSED:
            refused.append(OverrideDecision(override=one, accepted=False, refused=why))
    return accepted, refused


def _entitled(
    api: Api, pull: PullNow, one: Override, wrote: Authors, rules: OverrideSettings, ranks: dict[str, int]
) -> str:
    """Why this person may not, empty if he may. Roles are asked for once a person."""
    least = rules.vouch if one.what == EVIDENCE else rules.role
    if least == "never":
        return "the settings at base let nobody vouch for evidence"
    if one.by not in ranks:
        if len(ranks) == MOST_PEOPLE:
            return "too many people asked before"
        ranks[one.by] = _RANKS.get(role(api, pull.repo, one.by), 0)
    if ranks[one.by] < _RANKS[least]:
        return f"its author has not the role {least}"
    return "it is by an author of the change" if may_be_author(api, one.by, wrote) else ""


def _judge(comment: Comment, pull: PullNow, since: datetime | None, wrote: Authors) -> tuple[Override, str]:
    by = comment.user.login if comment.user else ""
    try:
        what, sha, reason = parse_command(comment.body or "")
    except UsageError as error:
        one = Override(what="?", reason="", by=by, source="comment", where=comment.html_url)
        return one, error.message
    one = Override(what=what, reason=reason, by=by, source="comment", where=comment.html_url)
    return one, _against(comment, pull, since, wrote, sha)


def _against(comment: Comment, pull: PullNow, since: datetime | None, wrote: Authors, sha: str) -> str:
    """What speaks against a well-formed command before anybody's role is asked for, empty for nothing."""
    if comment.user is None or comment.user.type != "User":
        return "only people can override"
    if comment.performed_via_github_app is not None:
        return "it was written through an app"
    if comment.edited:
        return "the comment was edited"
    if not pull.head_sha.startswith(sha):
        return "it is for another commit"
    at = time_of(comment.created_at)
    if since is None or at <= since:
        return "it is older than the verdict on this commit"
    if wrote.moved is not None and at <= wrote.moved:
        return "it is older than the last event that set the head or the base"
    if not wrote.whole:
        return "the change has too many commits to know all its authors"
    return "it is by an author of the change" if comment.user.login.lower() in wrote.logins else ""
