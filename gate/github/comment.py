"""One comment on a pull request that is edited in place (RP-2)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from gate.dataclass import dataclass
from gate.github.interface import Api, MissingError, path, repository
from gate.github.target import User

MARKER: Final = "<!-- gate:report:v1 -->"
MOST_CHARACTERS: Final = 65_536


class Comment(msgspec.Struct):
    """One comment of the conversation; times as GitHub writes them (ISO 8601, UTC)."""

    id: int
    body: str | None = None
    user: User | None = None
    html_url: str = ""
    created_at: str = ""
    updated_at: str = ""
    author_association: str = ""
    performed_via_github_app: dict[str, object] | None = None
    """The app that wrote it in the person's name."""

    @property
    def edited(self) -> bool:
        """Changed after it was written."""
        return self.updated_at != self.created_at


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentResult:
    """What became of the comment. ``url`` is empty where there is none."""

    what: Literal["created", "edited", "unchanged", "not needed"]
    url: str = ""


def comments(api: Api, repo: str, number: int) -> list[Comment]:
    """The whole conversation, oldest first."""
    return list(api.pages(path("repos", *repository(repo), "issues", number, "comments"), Comment))


def marker(name: str = "") -> str:
    """What our comment begins with; ``name``: which of several looks it tells of."""
    return f"<!-- gate:report:v1 {name} -->" if name else MARKER


def own_comment(found: list[Comment], me: str, name: str = "") -> Comment | None:
    """Our comment: marker *and* author, as anybody can paste a marker."""
    mark = marker(name)
    return next((c for c in found if c.user and c.user.login == me and (c.body or "").startswith(mark)), None)


def upsert_comment(
    api: Api, repo: str, number: int, text: str, *, me: str, create: bool, name: str = ""
) -> CommentResult:
    """Put ``text`` (Markdown that is already safe) into our comment.

    ``create``: also where there is none yet. A comment that says this already is left alone; one that was
    deleted meanwhile is made anew (if ``create``).
    """
    body = f"{marker(name)}\n{text}"
    if len(body) > MOST_CHARACTERS:
        raise ValueError("the report is longer than a comment may be")
    place = path("repos", *repository(repo), "issues", number, "comments")
    there = own_comment(comments(api, repo, number), me, name)
    if there is not None:
        if there.body == body:
            return CommentResult(what="unchanged", url=there.html_url)
        edit = path("repos", *repository(repo), "issues", "comments", there.id)
        try:
            return CommentResult(what="edited", url=api.send("PATCH", edit, {"body": body}, Comment).html_url)
        except MissingError:
            pass
    if not create:
        return CommentResult(what="not needed")
    made = api.send(
        "POST",
        place,
        {"body": body},
        Comment,
        settled=lambda: own_comment(comments(api, repo, number), me, name),
    )
    return CommentResult(what="created", url=made.html_url)
