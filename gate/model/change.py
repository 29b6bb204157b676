"""A change: two trees and what differs, read from tree objects, never from a work tree."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Protocol

from gate.dataclass import dataclass

Side = Literal["base", "head"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """One commit of the range. Text is decoded lossily (``errors="replace"``) and untrusted."""

    sha: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    committer_name: str
    committer_email: str
    authored_at: int
    """Seconds since the epoch."""
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryCommit:
    """One commit of a whole history.

    ``added`` counts the lines it added, None when git was not asked. ``notes`` are the bodies of
    its AI-attribution notes.
    """

    commit: Commit
    added: int | None = None
    notes: tuple[bytes, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Hunk:
    """One hunk of a zero-context diff. Starts are 1-based; a count may be 0."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedFile:
    """One path that differs between the base tree and the head tree.

    Modes are git's octal strings (``100644``, ``100755``, ``120000`` symlink, ``160000``
    submodule) or None where the side has no such path. ``language`` is told by content and
    name (``python``, ``javascript``, ``shell`` ...) or None. ``size`` is the head blob's, bytes.
    """

    path: str
    old_path: str | None
    status: Literal["added", "modified", "deleted", "renamed", "type-changed"]
    language: str | None
    hunks: tuple[Hunk, ...]
    """In the order of the file."""
    old_mode: str | None
    new_mode: str | None
    old_blob: str | None
    new_blob: str | None
    binary: bool
    size: int

    def touches(self, first: int, last: int | None = None) -> bool:
        """True when a line of ``first..last`` (head side, inclusive) was added or changed."""
        return _meets(self.hunks, first, last or first, lambda h: (h.new_start, h.new_count))

    def touched(self, first: int, last: int) -> bool:
        """True when a line of ``first..last`` (base side, inclusive) was removed or changed."""
        return _meets(self.hunks, first, last, lambda h: (h.old_start, h.old_count))

    @property
    def added_line_count(self) -> int:
        """How many head lines the change added or rewrote."""
        return sum(h.new_count for h in self.hunks)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A git range (or a set of loose files, where everything counts as added).

    ``base`` and ``head`` are what the user asked for, as full object names; ``merge_base`` is
    the tree that head is compared with. All None for loose files.
    """

    repo: str
    base: str | None
    head: str | None
    merge_base: str | None
    commits: tuple[Commit, ...]
    files: tuple[ChangedFile, ...]
    branch: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LineOrigin:
    """A run of head lines and the commit that last wrote them (what ``git blame`` answers).

    ``line`` and ``original_line`` are 1-based; ``path`` and ``original_line`` are as they were in
    ``commit``, which is where line-level attribution records count from.
    """

    line: int
    count: int
    commit: str
    path: str
    original_line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PullRequest:
    """What the forge's event says about the change. All text is the author's: data, never proof."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    author: str
    branch: str
    """The head branch's name."""
    base_branch: str
    base_sha: str
    head_sha: str
    from_fork: bool
    draft: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeEntry:
    """One path of a tree: mode as in ChangedFile, ``size`` in bytes (0 for submodules)."""

    path: str
    mode: str
    blob: str
    size: int


class Tree(Protocol):
    """One side of the change, readable without a work tree. Implementations: gate/change."""

    def entries(self) -> tuple[TreeEntry, ...]:
        """Every blob, symlink and submodule of the tree, sorted by path."""
        ...

    def read(self, path: str) -> bytes:
        """The blob's bytes (a symlink's target text). KeyError when there is no such path."""
        ...

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Like read, for many paths in one go; paths that do not exist are left out."""
        ...

    def archive(self) -> Iterator[bytes]:
        """The tree as an uncompressed tar stream: files, symlinks as symlinks, no ``.git``,
        submodules as empty folders, fixed owner, mode and time; nothing of git attributes acts.
        """
        ...


def _meets(hunks: Sequence[Hunk], first: int, last: int, span: Callable[[Hunk], tuple[int, int]]) -> bool:
    """Is a line of ``first..last`` in one of the hunks, which stand in their order?

    Only those around are looked at: a file can have 100,000, and is asked about line by line.
    """
    at = bisect_right(hunks, last, key=lambda h: span(h)[0])
    while at and span(hunks[at - 1])[0] >= first:
        at -= 1
        if span(hunks[at])[1]:
            return True
    return at > 0 and first < sum(span(hunks[at - 1]))
