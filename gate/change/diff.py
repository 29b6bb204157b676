"""What differs between two trees: the file list from tree objects, hunks from blob pairs.

The list comes from ``diff-tree --raw``, which knows only trees, so no attribute and no file name
can hide a file. Hunks are looked up by the pair of blob names that git prints in each patch's
``index`` line: no file name of the change is ever parsed out of a patch. A pair for which git gives
no hunks (binary, larger than 4 MiB, out of time) counts as changed from first line to last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from gate.change.git_command import GitRepository
from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.languages.change_language import language_of
from gate.languages.identity import SNIFF
from gate.model.change import ChangedFile, Hunk
from gate.regex import regex

Status = Literal["added", "modified", "deleted", "renamed", "type-changed"]
_STATUS: Final[dict[str, Status]] = {
    "A": "added",
    "M": "modified",
    "D": "deleted",
    "R": "renamed",
    "T": "type-changed",
}
_PATCH_DEADLINE: Final = 30.0
_PATCH_CAP: Final = 64 << 20
_READ_WHOLE: Final = 32 << 20
"""Blobs beyond this many bytes are not read; every line they could hold counts as changed."""
_INDEX: Final = regex(rb"index ([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})")
_HUNK: Final = regex(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FLAGS: Final = (
    "-r",
    "-M",
    "-l1000",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--full-index",
    "--ignore-submodules=none",
    "--submodule=short",
    "--diff-algorithm=histogram",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RawChange:
    """One record of ``diff-tree --raw``. Modes ``000000`` are told as None."""

    status: Status
    path: str
    old_path: str | None
    old_mode: str | None
    new_mode: str | None
    old_blob: str | None
    new_blob: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Facts:
    """What one look at a blob's bytes tells."""

    size: int
    lines: int
    binary: bool
    head: bytes


def changed_files(door: GitRepository, old_tree: str, new_tree: str) -> tuple[ChangedFile, ...]:
    """Every path that differs, sorted by path, with hunks and language."""
    raw = raw_changes(door, old_tree, new_tree)
    hunks = _patch_hunks(door, old_tree, new_tree) if any(_paired(r) for r in raw) else {}
    facts = _facts_of(door, raw)
    return tuple(sorted((_changed_file(r, hunks, facts) for r in raw), key=lambda f: f.path))


def raw_changes(door: GitRepository, old_tree: str, new_tree: str) -> list[RawChange]:
    """The changed-file list, from tree objects alone."""
    out = door.run("diff-tree", "--raw", "-z", *_FLAGS, old_tree, new_tree, cap=1 << 30)
    fields = iter(out.split(b"\0"))
    found = []
    for meta in fields:
        if not meta:
            continue
        old_mode, new_mode, old_blob, new_blob, status = meta.decode("ascii").lstrip(":").split()
        kind = _STATUS.get(status[0])
        if kind is None:
            raise InconclusiveError(f"git names a kind of change gate does not know: {status[:8]}")
        first = next(fields).decode("utf-8", "surrogateescape")
        path = next(fields).decode("utf-8", "surrogateescape") if kind == "renamed" else first
        found.append(
            RawChange(
                status=kind,
                path=path,
                old_path=None if kind == "added" else first,
                old_mode=_there(old_mode),
                new_mode=_there(new_mode),
                old_blob=_there(old_blob),
                new_blob=_there(new_blob),
            )
        )
    return found


def _there(text: str) -> str | None:
    return text if text.strip("0") else None


def _paired(raw: RawChange) -> bool:
    return bool(raw.old_blob and raw.new_blob and raw.old_blob != raw.new_blob)


def _patch_hunks(door: GitRepository, old: str, new: str) -> dict[tuple[str, str], tuple[Hunk, ...]]:
    """Hunks by blob pair. Pairs that git did not get to are missing."""
    done = door.try_run(
        "diff-tree",
        "-p",
        "-U0",
        "--diff-filter=MR",
        *_FLAGS,
        old,
        new,
        deadline=_PATCH_DEADLINE,
        cap=_PATCH_CAP,
    )
    found: dict[tuple[str, str], tuple[Hunk, ...]] = {}
    pair: tuple[str, str] | None = None
    hunks: list[Hunk] = []
    # A context-free patch has content lines only with '+', '-' or '\' in front.
    for line in _lines(done.stdout):
        if line.startswith(b"@@ ") and pair:
            match = _HUNK.match(line)
            if match:
                hunks.append(_hunk(*match.groups()))
        elif line.startswith(b"diff --git "):
            if pair and hunks:
                found[pair] = tuple(hunks)
            pair, hunks = None, []
        elif match := _INDEX.match(line):
            pair = (match[1].decode("ascii"), match[2].decode("ascii"))
    if pair and hunks and done.ok:
        found[pair] = tuple(hunks)
    return found


def _lines(data: bytes) -> Iterator[bytes]:
    """The header lines of a patch, one by one, without copying the contents."""
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if data[at] not in b"+-\\":
            yield data[at:end]
        at = end + 1


def _hunk(old: bytes, old_count: bytes | None, new: bytes, new_count: bytes | None) -> Hunk:
    return Hunk(
        old_start=int(old),
        old_count=1 if old_count is None else int(old_count),
        new_start=int(new),
        new_count=1 if new_count is None else int(new_count),
    )


def _facts_of(door: GitRepository, raw: list[RawChange]) -> dict[str, _Facts]:
    """One look at every blob on either side, in batches."""
    oids: dict[str, None] = {}
    for r in raw:
        for oid, mode in ((r.old_blob, r.old_mode), (r.new_blob, r.new_mode)):
            if oid and mode != "160000":
                oids[oid] = None
    sizes = _sizes(door, list(oids))
    facts = {
        oid: _Facts(size=size, lines=size, binary=True, head=b"")
        for oid, size in sizes.items()
        if size > _READ_WHOLE
    }
    for oid, data in door.blobs((o, s) for o, s in sizes.items() if s <= _READ_WHOLE):
        facts[oid] = _Facts(
            size=len(data),
            lines=line_count(data),
            binary=b"\0" in data[:8000],
            head=data[:SNIFF],
        )
    return facts


def _sizes(door: GitRepository, oids: list[str]) -> dict[str, int]:
    out = door.run(
        "cat-file",
        "--batch-check=%(objectname) %(objectsize)",
        "--buffer",
        stdin="".join(f"{oid}\n" for oid in oids).encode(),
    )
    sizes = {}
    for line in out.decode("ascii", "replace").splitlines():
        oid, size = line.split(" ", 1)
        if not size.isdigit():
            raise InconclusiveError(
                f"git has no object {oid[:12]}",
                advice="Partial clones lack files; fetch the whole history (no --filter).",
            )
        sizes[oid] = int(size)
    return sizes


def line_count(data: bytes) -> int:
    """Lines as git counts them: a last line without newline is a line."""
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def _changed_file(
    r: RawChange, hunks: dict[tuple[str, str], tuple[Hunk, ...]], facts: dict[str, _Facts]
) -> ChangedFile:
    old = facts.get(r.old_blob or "")
    new = facts.get(r.new_blob or "")
    lines: tuple[Hunk, ...] = ()
    if r.old_blob != r.new_blob:
        found = hunks.get((r.old_blob or "", r.new_blob or ""))
        lines = found if found is not None and r.status != "type-changed" else _whole(old, new)
    plain = new is not None and r.new_mode in ("100644", "100755")
    told = new if plain else old if r.new_mode is None else None
    return ChangedFile(
        path=r.path,
        old_path=r.old_path if r.old_path != r.path or r.status != "added" else None,
        status=r.status,
        language=language_of(r.path, told.head) if told else None,
        hunks=lines,
        old_mode=r.old_mode,
        new_mode=r.new_mode,
        old_blob=r.old_blob,
        new_blob=r.new_blob,
        binary=bool(new.binary if new else old and old.binary),
        size=new.size if new else 0,
    )


def _whole(old: _Facts | None, new: _Facts | None) -> tuple[Hunk, ...]:
    """One hunk from first line to last on both sides; none where both are empty."""
    gone, come = old.lines if old else 0, new.lines if new else 0
    if not gone and not come:
        return ()
    return (Hunk(old_start=min(1, gone), old_count=gone, new_start=min(1, come), new_count=come),)
