"""Makes installed JavaScript packages visible where module resolution looks: links in the tree's
node_modules.

The folder itself is the sandbox's own, so that tools may keep caches in it; the packages behind its links are
read-only. A folder that the tree itself has is left as it is.
"""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Collection, Iterator

from gate.model.change import Tree, TreeEntry
from gate.sandbox.tree_archive import TREE
from gate.supply.javascript.packages import Packages

_MODULES = "node_modules"
Links = tuple[tuple[str, str], ...]


def links(tree: Tree, packages: Packages, laid: Collection[str], has_layer: bool) -> Links:
    """Places in the tree → what is behind them: a place of the layer (relative), or a folder of the tree
    (absolute). ``laid``: the places that the layer has.
    """
    own = {_folder_above(entry.path) for entry in tree.entries() if f"/{_MODULES}/" in f"/{entry.path}"}
    found: dict[str, str] = {}
    for place in laid:
        if place.count(_MODULES + "/") == 1 and has_layer:
            found[place] = place
            above = place.partition(_MODULES)[0]
            found[f"{above}{_MODULES}/.bin"] = f"{above}{_MODULES}/.bin"
    for place, folder in packages.links:
        found[place] = posixpath.normpath(f"{TREE}/{folder}")
    return tuple(
        sorted((place, target) for place, target in found.items() if _folder_above(place) not in own)
    )


def _folder_above(path: str) -> str:
    """The folder that the first node_modules of a path lies in."""
    return f"/{path}".partition(f"/{_MODULES}/")[0]


def inside(links: Links, layer: str | None) -> Links:
    """The same with the layer's folder inside in front."""
    return tuple(
        (place, target if target.startswith("/") else f"{layer}/{target}")
        for place, target in links
        if layer or target.startswith("/")
    )


class LinkedTree:
    """A tree with links of ours in its archive. Implements model.change.Tree."""

    def __init__(self, tree: Tree, links: Links) -> None:
        self._tree, self._links = tree, links

    def entries(self) -> tuple[TreeEntry, ...]:
        """The tree's own."""
        return self._tree.entries()

    def read(self, path: str) -> bytes:
        """A file of the tree. Raises KeyError."""
        return self._tree.read(path)

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Those that are there."""
        return self._tree.read_many(paths)

    def archive(self) -> Iterator[bytes]:
        """The tree's tar, with the links in front."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for place, target in self._links:
                member = tarfile.TarInfo(place)
                member.type, member.linkname, member.mode = tarfile.SYMTYPE, target, 0o777
                tar.addfile(member)
            size = tar.offset
        yield out.getvalue()[:size]
        yield from self._tree.archive()
