"""Commits and changes made up for attribution tests."""

from __future__ import annotations

from collections.abc import Iterator

from gate.attribution.attribute import attribute_commit
from gate.model.attribution import CommitAttribution
from gate.model.change import Change, ChangedFile, Commit, Hunk, PullRequest, TreeEntry

PERSON = ("A Person", "person@example.org")


def commit(
    message: str = "work\n",
    *,
    author: tuple[str, str] = PERSON,
    committer: tuple[str, str] | None = None,
    when: int = 1_740_000_000,
    sha: str = "1" * 40,
    parents: tuple[str, ...] = (),
) -> Commit:
    by = committer or author
    return Commit(
        sha=sha,
        parents=parents,
        author_name=author[0],
        author_email=author[1],
        committer_name=by[0],
        committer_email=by[1],
        authored_at=when,
        message=message,
    )


def by_message(message: str, subject: str = "Work on the parser") -> CommitAttribution:
    return attribute_commit(commit(f"{subject}\n\n{message}\n"))


def by_author(name: str, email: str) -> CommitAttribution:
    return attribute_commit(commit(author=(name, email)))


def changed(path: str, *spans: tuple[int, int], size: int = 100, binary: bool = False) -> ChangedFile:
    return ChangedFile(
        path=path,
        old_path=path,
        status="modified",
        language=None,
        hunks=tuple(Hunk(old_start=a, old_count=0, new_start=a, new_count=b - a + 1) for a, b in spans),
        old_mode="100644",
        new_mode="100644",
        old_blob="0" * 40,
        new_blob="1" * 40,
        binary=binary,
        size=size,
    )


def change(commits: tuple[Commit, ...], files: tuple[ChangedFile, ...], branch: str | None = None) -> Change:
    return Change(
        repo="r",
        base="a" * 40,
        head=commits[-1].sha if commits else "b" * 40,
        merge_base="a" * 40,
        commits=commits,
        files=files,
        branch=branch,
    )


def request(**more: object) -> PullRequest:
    values: dict[str, object] = {
        "number": 1,
        "title": "t",
        "body": "",
        "labels": (),
        "author": "someone",
        "branch": "topic",
        "base_branch": "main",
        "base_sha": "a" * 40,
        "head_sha": "b" * 40,
        "from_fork": False,
    }
    return PullRequest(**(values | more))  # type: ignore[arg-type]


class FakeTree:
    """A tree of a few files held in memory (the Tree protocol, complete)."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def entries(self) -> tuple[TreeEntry, ...]:
        return tuple(
            TreeEntry(path=p, mode="100644", blob="0" * 40, size=len(d)) for p, d in self._files.items()
        )

    def read(self, path: str) -> bytes:
        return self._files[path]

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        return ((path, self._files[path]) for path in paths if path in self._files)

    def archive(self) -> Iterator[bytes]:
        return iter(())
