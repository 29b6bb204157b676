"""Reads the notes that AI tools attach to commits: git-ai's and Agent Trace's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gate.change.git_command import GitRepository

NOTE_REFS: Final = ("refs/notes/ai", "refs/notes/ai-remote/origin", "refs/notes/agent-trace")
NOTE_BYTES: Final = 4 << 20
"""A larger note is left unread: real ones embed whole transcripts."""
_HEX: Final = frozenset("0123456789abcdef")


def read_notes(door: GitRepository, commits: Sequence[str]) -> dict[str, tuple[bytes, ...]]:
    """Note bodies by commit, for those commits that have any. No notes fetched: an empty dict."""
    found: dict[str, list[bytes]] = {}
    wanted = set(commits)
    for tree in note_trees(door) if wanted else ():
        pairs = [(sha, blob) for sha, blob in note_blobs(door, tree) if sha in wanted]
        for (sha, _), body in zip(pairs, note_bodies(door, [blob for _, blob in pairs]), strict=True):
            if body and body not in found.setdefault(sha, []):
                found[sha].append(body)
    return {sha: tuple(bodies) for sha, bodies in found.items()}


def note_trees(door: GitRepository) -> list[str]:
    """The trees of the notes refs that there are, in their order."""
    asked = "".join(f"{ref}^{{tree}}\n" for ref in NOTE_REFS)
    told = door.try_run("cat-file", "--batch-check=%(objectname)", stdin=asked.encode()).stdout
    return [line for line in told.decode("utf-8", "replace").splitlines() if line and _HEX.issuperset(line)]


def note_blobs(door: GitRepository, tree: str) -> Iterator[tuple[str, str]]:
    """(commit, note blob) for every note of one tree of notes, which fans out by two hex digits."""
    for record in door.run("ls-tree", "-r", "-z", "--full-tree", tree, cap=1 << 30).split(b"\0"):
        meta, _, name = record.partition(b"\t")
        sha = name.replace(b"/", b"").decode("ascii", "replace")
        fields = meta.split()
        if len(fields) == 3 and fields[1] == b"blob" and len(sha) in (40, 64) and _HEX.issuperset(sha):
            yield sha, fields[2].decode("ascii")


def note_bodies(door: GitRepository, blobs: Sequence[str]) -> Iterator[bytes]:
    """The bodies in order; b"" for one beyond NOTE_BYTES."""
    if not blobs:
        return
    out = door.run(
        "cat-file",
        "--batch-check=%(objectsize)",
        "--buffer",
        stdin="".join(f"{blob}\n" for blob in blobs).encode(),
    )
    sizes = [int(line) if line.isdigit() else NOTE_BYTES + 1 for line in out.split(b"\n")[: len(blobs)]]
    bodies = door.blobs((b, s) for b, s in zip(blobs, sizes, strict=True) if s <= NOTE_BYTES)
    for size in sizes:
        yield next(bodies)[1] if size <= NOTE_BYTES else b""
