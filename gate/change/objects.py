"""A tree read straight from git's objects."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from gate.change.git_command import GitRepository
from gate.change.tarball import check_paths, tar_stream
from gate.errors import InconclusiveError
from gate.model.change import TreeEntry

_CACHE_BYTES: Final = 24 << 20
_CACHE_ONE: Final = 1 << 20


class BlobCache:
    """Small blobs that were read once, up to a fixed budget in bytes; shared by threads."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}
        self._left = _CACHE_BYTES
        self._lock = threading.Lock()

    def get(self, oid: str) -> bytes | None:
        """The blob, if it was kept."""
        return self._kept.get(oid)

    def put(self, oid: str, data: bytes) -> None:
        """Keep the blob if it is small and there is room."""
        with self._lock:
            if len(data) <= min(_CACHE_ONE, self._left) and oid not in self._kept:
                self._kept[oid] = data
                self._left -= len(data)


class GitTree:
    """One tree object. Reading never touches a work tree; symlinks are data."""

    def __init__(self, door: GitRepository, tree: str, cache: BlobCache) -> None:
        self._door, self.oid, self._cache = door, tree, cache

    @cached_property
    def _entries(self) -> tuple[TreeEntry, ...]:
        listing = self._door.run("ls-tree", "-r", "-z", "--full-tree", "-l", self.oid, cap=1 << 30)
        found = []
        for record in listing.split(b"\0"):
            if not record:
                continue
            meta, _, name = record.partition(b"\t")
            mode, _, oid, size = meta.split()
            if size == b"BAD":
                raise InconclusiveError(
                    "a file of the tree is missing from the clone",
                    advice="Fetch without --filter: a partial clone cannot be judged.",
                )
            found.append(
                TreeEntry(
                    path=name.decode("utf-8", "surrogateescape"),
                    mode=mode.decode("ascii"),
                    blob=oid.decode("ascii"),
                    size=0 if size == b"-" else int(size),
                )
            )
        check_paths(found)
        return tuple(sorted(found, key=lambda entry: entry.path))

    @cached_property
    def _by_path(self) -> dict[str, TreeEntry]:
        return {entry.path: entry for entry in self._entries}

    def entries(self) -> tuple[TreeEntry, ...]:
        """Every blob, symlink and submodule, sorted by path."""
        return self._entries

    def read(self, path: str) -> bytes:
        """The blob's bytes (a symlink's target). KeyError for no such path; b"" for a submodule."""
        entry = self._by_path[path]
        return next((data for _, data in self._contents((entry,))), b"")

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Contents of many paths, in order; paths that do not exist are left out."""
        there = tuple(self._by_path[path] for path in paths if path in self._by_path)
        return ((entry.path, data) for entry, data in self._contents(there))

    def archive(self) -> Iterator[bytes]:
        """The tree as a tar stream; see gate/change/tarball.py."""
        return tar_stream(self._entries, self._contents(self._entries))

    def _contents(self, entries: tuple[TreeEntry, ...]) -> Iterator[tuple[TreeEntry, bytes]]:
        files = [entry for entry in entries if entry.mode != "160000"]
        missing = ((e.blob, e.size) for e in files if self._cache.get(e.blob) is None)
        fresh = self._door.blobs(list(missing))
        for entry in files:
            data = self._cache.get(entry.blob)
            if data is None:
                data = self._next(fresh, entry.blob)
                self._cache.put(entry.blob, data)
            yield entry, data

    def _next(self, fresh: Iterator[tuple[str, bytes]], oid: str) -> bytes:
        for name, data in fresh:
            if name == oid:
                return data
        return next(data for _, data in self._door.blobs([(oid, 0)]))
