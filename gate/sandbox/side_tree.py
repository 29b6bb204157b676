"""A side's tree by content, for runs that are kept: what can be learned of it, and what files hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from gate.dataclass import dataclass
from gate.inside.observer.text import bytes_of
from gate.model.change import Tree
from gate.sandbox.tree_archive import inside

_LINK: Final = "120000"
_SUBMODULE: Final = "160000"
_PAGE: Final = 4096


@dataclass(frozen=True)
class SideTree:
    """A side's tree as its sandboxes get it, by content. ``outline``: paths, kinds, modes, what links lead
    to, and how much room its files take: all that can be learned without asking about a file.
    """

    tree: Tree
    whole: str
    outline: str
    files: Mapping[str, str]
    """Path as in a trace → path in the tree."""
    links: frozenset[str]

    @classmethod
    def of(cls, tree: Tree) -> SideTree:
        """Reads the list of entries and the links, no file."""
        entries = tree.entries()
        whole, outline, pages = sha256(), sha256(), 0
        leads = dict(tree.read_many(tuple(e.path for e in entries if e.mode == _LINK)))
        for entry in entries:
            name = f"{entry.mode} {entry.path}\0".encode("utf-8", "surrogateescape")
            whole.update(name + entry.blob.encode() + b"\n")
            fixed = entry.mode in (_LINK, _SUBMODULE)
            outline.update(name + (leads.get(entry.path, b"") + entry.blob.encode() if fixed else b"\n"))
            pages += -(-entry.size // _PAGE)
        outline.update(str(pages).encode())
        files = {inside(e.path): e.path for e in entries if e.mode not in (_LINK, _SUBMODULE)}
        links = frozenset(inside(e.path) for e in entries if e.mode == _LINK)
        return cls(tree, whole.hexdigest(), outline.hexdigest(), files, links)

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Of those that are files of the tree, path as in a trace → digest of the content."""
        names = {self.files[path]: path for path in sorted(paths) if path in self.files}
        read = self.tree.read_many(tuple(names))
        return {names[path]: sha256(data).hexdigest() for path, data in read}


def told_of(path: str) -> str:
    """What the file system tells of a file of this machine; empty where it is not there."""
    try:
        found = Path(os.fsdecode(bytes_of(path))).stat()
    except (OSError, ValueError):
        return ""
    return f"{found.st_mode} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"
