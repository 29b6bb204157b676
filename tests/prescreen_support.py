"""Changes made from plain dicts, for the tests of the static look. No git needed."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from gate.model.change import Change, ChangedFile, Hunk, TreeEntry
from gate.prescreen.interface import PrescreenRequest

Files = Mapping[str, bytes | str]

SCRATCH: str | None = None
"""Where scratch folders are made: tests/conftest.py says it and removes them. None: among temporary files."""


class DictTree:
    """A tree held in memory; modes are plain files unless ``modes`` says otherwise."""

    def __init__(self, files: Files, modes: Mapping[str, str] | None = None) -> None:
        self._files = {p: d if isinstance(d, bytes) else d.encode() for p, d in files.items()}
        self.modes = dict(modes or {})

    def entries(self) -> tuple[TreeEntry, ...]:
        return tuple(
            TreeEntry(path=p, mode=self.mode(p), blob=f"{abs(hash(d)):040x}", size=len(d))
            for p, d in sorted(self._files.items())
        )

    def mode(self, path: str) -> str:
        return self.modes.get(path, "100644")

    def read(self, path: str) -> bytes:
        return self._files[path]

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        for path in paths:
            if path in self._files:
                yield path, self._files[path]

    def archive(self) -> Iterator[bytes]:
        raise NotImplementedError("no scanner unpacks a tree")

    def get(self, path: str) -> bytes | None:
        return self._files.get(path)


def hunks(old: bytes, new: bytes) -> tuple[Hunk, ...]:
    """Zero-context hunks, lines as git counts them."""
    if len(old) + len(new) > 1 << 20:
        return (Hunk(old_start=1, old_count=old.count(b"\n"), new_start=1, new_count=new.count(b"\n") + 1),)
    a, b = old.split(b"\n"), new.split(b"\n")
    if not old:
        return (Hunk(old_start=0, old_count=0, new_start=1, new_count=len(b)),)
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return tuple(
        Hunk(old_start=i1 + 1, old_count=i2 - i1, new_start=j1 + 1, new_count=j2 - j1)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    )


def make_change(
    base: DictTree,
    head: DictTree,
    renames: Mapping[str, str] | None = None,
    languages: Mapping[str, str] | None = None,
) -> Change:
    """The difference of two trees. ``renames`` maps a head path to its base path."""
    renames = dict(renames or {})
    gone = {e.path for e in base.entries()} - set(renames.values())
    files = []
    for entry in head.entries():
        old_path = renames.get(entry.path)
        old = base.get(old_path or entry.path)
        new = head.read(entry.path)
        gone.discard(entry.path)
        if old == new and old_path is None and base.mode(entry.path) == entry.mode:
            continue
        files.append(
            ChangedFile(
                path=entry.path,
                old_path=old_path,
                status="added" if old is None else "renamed" if old_path else "modified",
                language=(languages or {}).get(entry.path),
                hunks=hunks(old or b"", new),
                old_mode=None if old is None else base.mode(old_path or entry.path),
                new_mode=entry.mode,
                old_blob=None if old is None else "1" * 40,
                new_blob=entry.blob,
                binary=b"\0" in new[:8000],
                size=len(new),
            )
        )
    files += [
        ChangedFile(
            path=path,
            old_path=None,
            status="deleted",
            language=None,
            hunks=(),
            old_mode=base.mode(path),
            new_mode=None,
            old_blob="1" * 40,
            new_blob=None,
            binary=False,
            size=0,
        )
        for path in sorted(gone)
    ]
    return Change(repo="/nowhere", base=None, head=None, merge_base=None, commits=(), files=tuple(files))


def make_request(
    head: Files,
    base: Files | None = None,
    *,
    renames: Mapping[str, str] | None = None,
    modes: Mapping[str, str] | None = None,
    allowed_imports: tuple[str, ...] = (),
    scratch: Path | None = None,
    deadline: float = 60.0,
) -> PrescreenRequest:
    """A request over two dicts of files; ``scratch`` defaults to a fresh temporary folder."""
    one, two = DictTree(base or {}), DictTree(head, modes)
    return PrescreenRequest(
        change=make_change(one, two, renames),
        base=one,
        head=two,
        scratch=scratch or Path(tempfile.mkdtemp(prefix="gate-test-", dir=SCRATCH)),
        deadline=deadline,
        allowed_imports=allowed_imports,
    )
