"""Loose files and folders as a change in which everything counts as added (`gate run PATH...`)."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gate.change.diff import line_count
from gate.change.interface import OpenChange
from gate.change.tarball import tar_stream
from gate.errors import InconclusiveError, UsageError
from gate.languages.change_language import language_of
from gate.languages.identity import SNIFF
from gate.model.change import Change, ChangedFile, Hunk, TreeEntry

_MOST_FILES: Final = 100_000
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FolderTree:
    """Files of one folder, listed once. Contents are read when asked for, never through a symlink."""

    def __init__(self, root: bytes, entries: tuple[TreeEntry, ...]) -> None:
        self._root = root
        self._entries = entries
        self._by_path = {entry.path: entry for entry in entries}

    def entries(self) -> tuple[TreeEntry, ...]:
        """Every file and symlink, sorted by path."""
        return self._entries

    def read(self, path: str) -> bytes:
        """The file's bytes, or a symlink's target text. KeyError when there is no such path."""
        entry = self._by_path[path]
        return _content(self._root, entry.path, link=entry.mode == "120000")

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Contents of many paths, in order; paths that do not exist are left out."""
        return ((path, self.read(path)) for path in paths if path in self._by_path)

    def archive(self) -> Iterator[bytes]:
        """The files as a tar stream; see gate/change/tarball.py."""
        return tar_stream(self._entries, ((entry, self.read(entry.path)) for entry in self._entries))


def open_paths(paths: Sequence[Path]) -> OpenChange:
    """Files and folders as a change. Names are relative to the folder that holds them all.

    Symlinks are listed as symlinks, never followed; ``.git`` is left out, nothing else is.
    Raises UsageError for a path that is missing, a symlink itself, or no file at all.
    """
    if not paths:
        raise UsageError("no path given", advice="Name a file or a folder: `gate run src/`.")
    named = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 - resolve() follows links
    kinds = [_kind(path) for path in named]
    homes = [path if kind == "folder" else path.parent for path, kind in zip(named, kinds, strict=True)]
    root = os.fsencode(os.path.commonpath(homes))
    entries: dict[str, TreeEntry] = {}
    for path, kind in zip(named, kinds, strict=True):
        found = _walk(root, os.fsencode(path)) if kind == "folder" else iter((os.fsencode(path),))
        for full in found:
            if len(entries) >= _MOST_FILES:
                raise UsageError(f"more than {_MOST_FILES} files", advice="Name a smaller folder.")
            entry = _entry(root, full)
            if entry:
                entries[entry.path] = entry
    listed = tuple(sorted(entries.values(), key=lambda entry: entry.path))
    tree, nothing = FolderTree(root, listed), FolderTree(root, ())
    files = tuple(_added(entry, tree) for entry in listed)
    change = Change(repo=os.fsdecode(root), base=None, head=None, merge_base=None, commits=(), files=files)
    return OpenChange(change=change, base=nothing, head=tree, config=nothing)


def _kind(path: Path) -> str:
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        raise UsageError(f"cannot look at {path}: {error.strerror}", advice="Check the path.") from error
    if stat.S_ISLNK(mode):
        raise UsageError(f"{path} is a symbolic link", advice="Name the file it points to.")
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    raise UsageError(f"{path} is neither a file nor a folder", advice="Name files or folders.")


def _walk(root: bytes, top: bytes) -> Iterator[bytes]:
    """Every non-folder below ``top``; ``.git`` is the repository's own store, not its content."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                items = sorted(listing, key=lambda item: item.name)
        except OSError as error:
            raise _cannot(os.path.relpath(folder, root), error) from error
        for item in items:
            if item.name == b".git":
                continue
            if item.is_dir(follow_symlinks=False):
                waiting.append(item.path)
            else:
                yield item.path


def _entry(root: bytes, full: bytes) -> TreeEntry | None:
    """The entry for one path; None for sockets, pipes and devices, which hold no code."""
    found = os.lstat(full)
    path = os.path.relpath(full, root).decode("utf-8", "surrogateescape")
    if stat.S_ISLNK(found.st_mode):
        mode = "120000"
    elif stat.S_ISREG(found.st_mode):
        mode = "100755" if found.st_mode & stat.S_IXUSR else "100644"
    else:
        return None
    data = _content(root, path, link=mode == "120000")
    # Not a security boundary: git's own name for the content, so that reports look alike.
    name = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return TreeEntry(path=path, mode=mode, blob=name, size=len(data))


def _content(root: bytes, path: str, *, link: bool) -> bytes:
    return read_unfollowed(root, path.encode("utf-8", "surrogateescape"), link=link)


def read_unfollowed(root: bytes, path: bytes, *, link: bool) -> bytes:
    """Read one path (a link's target), opening folder by folder so that no link on the way is followed.

    Raises InconclusiveError for what cannot be read.
    """
    parts = path.split(b"/")
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            below = os.open(part, _READ_FLAGS | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        if link:
            return os.readlink(parts[-1], dir_fd=at)
        with open(os.open(parts[-1], _READ_FLAGS, dir_fd=at), "rb") as stream:  # noqa: PTH123 - a descriptor
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise OSError(errno.EINVAL, "not a regular file any more")
            return stream.read()
    except OSError as error:
        raise _cannot(path, error) from error
    finally:
        os.close(at)


def _cannot(path: bytes, error: OSError) -> InconclusiveError:
    return InconclusiveError(
        f"cannot read {ascii(os.fsdecode(path))[:200]}: {error.strerror}",
        advice="Make it readable, or leave it out of the paths given.",
    )


def _added(entry: TreeEntry, tree: FolderTree) -> ChangedFile:
    data = tree.read(entry.path)
    lines = line_count(data)
    return ChangedFile(
        path=entry.path,
        old_path=None,
        status="added",
        language=None if entry.mode == "120000" else language_of(entry.path, data[:SNIFF]),
        hunks=(Hunk(old_start=0, old_count=0, new_start=1, new_count=lines),) if lines else (),
        old_mode=None,
        new_mode=entry.mode,
        old_blob=None,
        new_blob=entry.blob,
        binary=b"\0" in data[:8000],
        size=len(data),
    )
