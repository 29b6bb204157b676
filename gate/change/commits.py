"""Reads commit objects as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gate.change.git_command import GitRepository
from gate.model.change import Commit
from gate.regex import regex

MESSAGE_BYTES: Final = 1 << 18
"""More of one message is not kept: a quarter of a mebibyte is a book."""
_IDENTITY: Final = regex(rb"^(?P<name>[^\n]*?) ?<(?P<email>[^\n]*?)> ?(?P<time>-?\d{1,18})?[^\n]*$")


def read_commits(door: GitRepository, shas: Iterable[str]) -> Iterator[Commit]:
    """The commits by object name, in order. Raises InconclusiveError when one is missing."""
    for sha, raw in door.blobs((sha, 1024) for sha in shas):
        yield parse_commit(sha, raw)


def parse_commit(sha: str, raw: bytes) -> Commit:
    """One raw commit object. Missing or broken headers become empty text and time 0."""
    head, _, message = raw.partition(b"\n\n")
    parents: list[str] = []
    people: dict[bytes, tuple[str, str, int]] = {}
    encoding = "utf-8"
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"parent":
            parents.append(value.decode("ascii", "replace"))
        elif key in (b"author", b"committer") and key not in people:
            people[key] = _person(value)
        elif key == b"encoding":
            encoding = value.decode("ascii", "replace").strip() or encoding
    author = people.get(b"author", ("", "", 0))
    committer = people.get(b"committer", ("", "", 0))
    return Commit(
        sha=sha,
        parents=tuple(parents),
        author_name=author[0],
        author_email=author[1],
        committer_name=committer[0],
        committer_email=committer[1],
        authored_at=author[2],
        message=_text(message[:MESSAGE_BYTES], encoding),
    )


def _person(value: bytes) -> tuple[str, str, int]:
    match = _IDENTITY.match(value)
    if not match:
        return value.decode("utf-8", "replace"), "", 0
    return (
        match["name"].decode("utf-8", "replace"),
        match["email"].decode("utf-8", "replace"),
        int(match["time"] or 0),
    )


_LEGACY: Final = frozenset(
    {"latin-1", "latin1", "iso-8859-1", "iso8859-1", "iso-8859-15", "cp1252", "windows-1252"}
)


def _text(data: bytes, encoding: str) -> str:
    """UTF-8, or one of the few single-byte encodings git users declare; never an arbitrary codec."""
    name = encoding.lower().replace("_", "-")
    return data.decode(name if name in _LEGACY else "utf-8", "replace")
