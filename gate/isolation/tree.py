"""A tree held in memory: the probe that is sent into a sandbox, and a hostile one."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from typing import Final

from gate.change.tarball import tar_stream
from gate.isolation import inside_folder
from gate.model.change import TreeEntry
from gate.resources import inside_dir

_NUMBERS: Final = inside_dir() / "observer" / "numbers.py"


class MemoryTree:
    """Implements model.change.Tree. ``links`` maps a path to a symlink's target."""

    def __init__(self, files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> None:
        self._contents = dict(files) | {path: target.encode() for path, target in (links or {}).items()}
        self._entries = tuple(
            TreeEntry(
                path=path,
                mode="120000" if path in (links or {}) else "100644",
                blob=hashlib.sha1(data, usedforsecurity=False).hexdigest(),
                size=len(data),
            )
            for path, data in sorted(self._contents.items())
        )

    def entries(self) -> tuple[TreeEntry, ...]:
        """Sorted by path."""
        return self._entries

    def read(self, path: str) -> bytes:
        """KeyError when there is no such path."""
        return self._contents[path]

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Those that exist."""
        return ((path, self._contents[path]) for path in paths if path in self._contents)

    def archive(self) -> Iterator[bytes]:
        """An uncompressed tar of the files, made by gate/change/tarball.py."""
        return tar_stream(self._entries, ((entry, self.read(entry.path)) for entry in self._entries))


def probe_tree(arguments: Mapping[str, object]) -> MemoryTree:
    """Our probe programs with what they are told."""
    files = {path.name: path.read_bytes() for path in sorted(inside_folder().iterdir()) if path.is_file()}
    files["numbers_table.py"] = _NUMBERS.read_bytes()  # "numbers" is a module of Python's own
    files["arguments.json"] = json.dumps(arguments).encode("ascii")
    return MemoryTree(files)


class HostileTree(MemoryTree):
    """A link out of the tree, then a file through it: no checkout holds that, so it is archived by hand."""

    def __init__(self) -> None:
        super().__init__({"main.py": b"print('ran')"})

    def archive(self) -> Iterator[bytes]:
        """A tar as an attacker would write it."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            link = tarfile.TarInfo("way")
            link.type, link.linkname = tarfile.SYMTYPE, "/work/home"
            tar.addfile(link)
            for name in ("way/out.txt", "../outside.txt", "/work/home/absolute.txt"):
                member = tarfile.TarInfo(name)
                member.size = 1
                tar.addfile(member, io.BytesIO(b"x"))
        yield buffer.getvalue()
