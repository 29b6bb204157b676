"""Streams a whole history as values, in memory that does not grow with it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Final, cast

from gate.change.commits import MESSAGE_BYTES
from gate.change.git_command import GitRepository
from gate.change.git_range import resolve
from gate.change.notes import note_blobs, note_bodies, note_trees
from gate.errors import InconclusiveError, UsageError
from gate.model.change import Commit, HistoryCommit
from gate.process import clean_environment, kill_group
from gate.regex import regex

_FIELDS: Final = ("%H", "%P", "%an", "%ae", "%cn", "%ce", "%at", "%B")
_SINCE: Final = regex(r"\d{4}-\d{2}-\d{2}|\d{1,4} ?(?:days?|weeks?|months?|years?)(?: ago)?")
_ADDED: Final = regex(rb" (\d+) insertions?\(\+\)")
_CHUNK: Final = 1 << 18
_RECORD_MOST: Final = 16 << 20
_BATCH: Final = 500


def read_history(
    repo: Path, *, revision: str = "HEAD", since: str | None = None, lines: bool = True
) -> Iterator[HistoryCommit]:
    """Every commit reachable from ``revision``, newest first, merges left out.

    ``since`` is a day (2026-01-31) or an age ("6 months"). ``lines`` asks git how many lines each
    commit added, which takes git most of its time. Raises UsageError or InconclusiveError.
    """
    if since is not None and not _SINCE.fullmatch(since):
        raise UsageError(f"not a day or an age: {ascii(since)[:60]}", advice='Try 2026-01-31 or "6 months".')
    door = GitRepository(repo)
    try:
        words = [
            "log",
            "--no-merges",
            "--no-color",
            "--no-decorate",
            "--no-show-signature",
            "--encoding=UTF-8",
        ]
        words += ["--format=tformat:" + "%x00".join(_FIELDS) + "%x00"]
        if lines:
            words += ["--shortstat", "--no-renames", "--no-ext-diff", "--no-textconv"]
        if since:
            words += [f"--since={since}"]
        notes = {sha: blob for tree in reversed(note_trees(door)) for sha, blob in note_blobs(door, tree)}
        with _stream(door, [*words, resolve(door, revision), "--"]) as stdout:
            commits = _commits(_tokens(stdout), lines=lines)
            while batch := list(islice(commits, _BATCH)):
                yield from _noted(door, batch, notes)
    finally:
        door.close()


def _noted(
    door: GitRepository, batch: Sequence[tuple[Commit, int | None]], notes: dict[str, str]
) -> Iterator[HistoryCommit]:
    blobs = [notes[commit.sha] for commit, _ in batch if commit.sha in notes]
    bodies = note_bodies(door, blobs)
    for commit, added in batch:
        mine = (next(bodies),) if commit.sha in notes else ()
        yield HistoryCommit(commit=commit, added=added, notes=tuple(body for body in mine if body))


@contextmanager
def _stream(door: GitRepository, words: Sequence[str]) -> Iterator[IO[bytes]]:
    """Run git with its output read piece by piece; the child never outlives the block."""
    with (
        (door.shadow / "stderr").open("w+b") as complaints,
        subprocess.Popen(
            door.argv(*words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            cwd=door.shadow,
            env=clean_environment(door.environment()),
            start_new_session=True,
        ) as child,
    ):
        try:
            yield cast("IO[bytes]", child.stdout)
            code = child.wait(timeout=60)
        finally:
            kill_group(child)
        if code:
            complaints.seek(0)
            said = complaints.read(1000).decode("utf-8", "replace").strip().splitlines()
            raise InconclusiveError(
                f"git log failed: {said[-1][:300] if said else code}",
                advice="Is the clone whole? In a partial clone commits can be counted, lines cannot.",
            )


def _tokens(stdout: IO[bytes]) -> Iterator[bytes]:
    """NUL-separated pieces of a stream, the rest at the end included."""
    held = b""
    while chunk := stdout.read1(_CHUNK):  # type: ignore[attr-defined]
        parts = (held + chunk).split(b"\0")
        held = parts.pop()
        if len(held) > _RECORD_MOST:
            raise InconclusiveError("a commit message of this history is larger than 16 MiB")
        yield from parts
    yield held


def _commits(tokens: Iterable[bytes], *, lines: bool) -> Iterator[tuple[Commit, int | None]]:
    """(commit, added lines). After a record's last NUL come its statistics, then the next name."""
    stream = iter(tokens)
    sha = next(stream, b"").strip()
    while sha:
        fields = [field.decode("utf-8", "replace") for field in islice(stream, len(_FIELDS) - 1)]
        if len(fields) < len(_FIELDS) - 1:
            raise InconclusiveError("git log ended in the middle of a commit")
        after = next(stream, b"")
        stats, _, following = after.rpartition(b"\n")
        added = _ADDED.search(stats)
        parents, author, author_mail, committer, committer_mail, when, message = fields
        yield (
            Commit(
                sha=sha.decode("ascii", "replace"),
                parents=tuple(parents.split()),
                author_name=author,
                author_email=author_mail,
                committer_name=committer,
                committer_email=committer_mail,
                authored_at=int(when) if when.lstrip("-").isdigit() else 0,
                message=message[:MESSAGE_BYTES],
            ),
            int(added[1]) if added else 0 if lines else None,
        )
        sha = following.strip()
