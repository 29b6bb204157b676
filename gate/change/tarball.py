"""Makes the tar stream that goes into a sandbox, from entries and contents alone.

Not `git archive`: there the tree's own `.gitattributes` act (export-ignore hides files from the
look, export-subst rewrites them). GNU format, because its names are raw bytes.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from typing import Final

from gate.errors import InconclusiveError
from gate.model.change import TreeEntry

MTIME: Final = 1_577_836_800
"""2020-01-01, for every entry: zip writers refuse times before 1980."""
_PATH_MAX: Final = 4095
_CHUNK: Final = 1 << 20


def check_paths(entries: Iterable[TreeEntry]) -> None:
    """Refuse a tree that no checkout could hold.

    git's own tools cannot make one; written by hand it means a symlink that is also a folder, a
    way out of the tree or two contents for one name. Raises InconclusiveError.
    """
    leaves: set[str] = set()
    folders: set[str] = set()
    for entry in entries:
        parts = entry.path.split("/")
        if entry.path in leaves or any(part in ("", ".", "..", ".git") for part in parts):
            raise _impossible(entry.path)
        leaves.add(entry.path)
        at = entry.path.rfind("/")
        while at > 0 and entry.path[:at] not in folders:
            folders.add(entry.path[:at])
            at = entry.path.rfind("/", 0, at)
    for path in leaves & folders:
        raise _impossible(path)


def _impossible(path: str) -> InconclusiveError:
    return InconclusiveError(
        f"the tree holds a path that no checkout could hold: {ascii(path)[:120]}",
        advice="Such trees are made by hand to mislead tools; do not merge this.",
    )


def tar_stream(
    entries: tuple[TreeEntry, ...], contents: Iterable[tuple[TreeEntry, bytes]]
) -> Iterator[bytes]:
    """Uncompressed tar, folders first. ``contents`` gives every file and symlink once, any order.

    Owner 0:0, mode 0755 or 0644, one fixed time. A symlink whose target cannot be one (empty, NUL,
    too long) becomes a plain file, as git does where there are no symlinks.
    """
    check_paths(entries)
    folders = {entry.path for entry in entries if entry.mode == "160000"}
    for entry in entries:
        at = entry.path.rfind("/")
        while at > 0 and entry.path[:at] not in folders:
            folders.add(entry.path[:at])
            at = entry.path.rfind("/", 0, at)
    for folder in sorted(folders):
        yield _header(folder, tarfile.DIRTYPE, 0o755)
    for entry, data in contents:
        if entry.mode == "120000" and data and b"\0" not in data and len(data) <= _PATH_MAX:
            target = data.decode("utf-8", "surrogateescape")
            yield _header(entry.path, tarfile.SYMTYPE, 0o777, target=target)
            continue
        yield _header(entry.path, tarfile.REGTYPE, 0o755 if entry.mode == "100755" else 0o644, size=len(data))
        for start in range(0, len(data), _CHUNK):
            yield data[start : start + _CHUNK]
        if len(data) % tarfile.BLOCKSIZE:
            yield b"\0" * (tarfile.BLOCKSIZE - len(data) % tarfile.BLOCKSIZE)
    yield b"\0" * (2 * tarfile.BLOCKSIZE)


def _header(path: str, kind: bytes, mode: int, *, size: int = 0, target: str = "") -> bytes:
    info = tarfile.TarInfo(path)
    info.type, info.mode, info.size, info.linkname, info.mtime = kind, mode, size, target, MTIME
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
