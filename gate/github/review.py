"""Suggestions on changed lines of a pull request, as one review; none is made twice (RP-2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from gate.dataclass import dataclass
from gate.github.interface import Api, path, repository
from gate.github.target import MOST_FILES, PullNow, User
from gate.regex import regex

MOST: Final = 5
"""Suggestions on one pull request, all its commits together."""
_MARK: Final = regex(r"<!-- gate:fix:([0-9a-f]{16}) -->")
_HUNK: Final = regex(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class _File(msgspec.Struct):
    filename: str
    patch: str | None = None


class _Said(msgspec.Struct):
    body: str = ""
    user: User | None = None


class _Review(msgspec.Struct):
    id: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """``body``: Markdown that is already safe, the mark aside. ``key``: 16 hex digits that name it."""

    path: str
    line: int
    body: str
    key: str


def added_lines(api: Api, pull: PullNow, wanted: Iterable[str]) -> dict[tuple[str, int], str]:
    """(path, line of the head) to the text of every added line of these files, as far as GitHub tells."""
    names = frozenset(wanted)
    where = path("repos", *repository(pull.repo), "pulls", pull.number, "files")
    out: dict[tuple[str, int], str] = {}
    for found in api.pages(where, _File, most=MOST_FILES):
        if found.filename in names:
            out |= {(found.filename, n): text for n, text in _added(found.patch or "")}
    return out


def _added(patch: str) -> Iterable[tuple[int, str]]:
    number = 0
    for line in patch.split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            number = int(hunk[1])
        elif line.startswith("+") and number:
            yield number, line[1:]
            number += 1
        elif line.startswith(" "):
            number += 1


def suggest(api: Api, pull: PullNow, found: Sequence[Suggestion], *, me: str) -> int:
    """Write those that were never made on this pull request; returns how many. At most MOST in all."""
    made = _made(api, pull, me)
    new = [s for s in found if s.key not in made][: max(0, MOST - len(made))]
    if not new:
        return 0
    body = {
        "commit_id": pull.head_sha,
        "event": "COMMENT",
        "body": "",
        "comments": [
            {"path": s.path, "line": s.line, "side": "RIGHT", "body": f"<!-- gate:fix:{s.key} -->\n{s.body}"}
            for s in new
        ],
    }
    where = path("repos", *repository(pull.repo), "pulls", pull.number, "reviews")

    def settled() -> _Review | None:
        return _Review(id=0) if {s.key for s in new} <= _made(api, pull, me) else None

    api.send("POST", where, body, _Review, settled=settled)
    return len(new)


def _made(api: Api, pull: PullNow, me: str) -> set[str]:
    """Keys of our own suggestions, whatever became of them: one that was dismissed is not made again."""
    where = path("repos", *repository(pull.repo), "pulls", pull.number, "comments")
    ours = (s.body for s in api.pages(where, _Said) if s.user is not None and s.user.login == me)
    return {mark[1] for body in ours if (mark := _MARK.match(body))}
