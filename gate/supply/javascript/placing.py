"""Gives the packages of a graph (pnpm's and yarn's locks) places in node_modules, so that each finds its own.

As npm does: as far up as nothing of that name lies there, else right below who needs it.
"""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.supply.javascript.packages import MOST, Package, Packages, is_name

LINK: Final = "link:"
"""In front of a folder of the tree (relative to the lock's) that stands for a package."""
_DEEPEST: Final = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One package of a lock. ``needs``: name to key, or to a folder behind LINK."""

    name: str
    version: str
    address: str = ""
    integrity: str = ""
    needs: Mapping[str, str] = field(default_factory=dict)


def place(
    path: str,
    nodes: Mapping[str, Node],
    importers: Mapping[str, Mapping[str, str]],
    folders: Sequence[str],
    left: Sequence[str] = (),
) -> Packages:
    """What the wanted folders need, directly or not. ``importers``: each folder's own needs, as Node's.

    Raises ValueError for more packages than MOST.
    """
    top = posixpath.dirname(path)
    taken: dict[str, str] = {}
    waiting = deque[tuple[str, Mapping[str, str], int]]()
    seen: set[str] = set()
    for folder in ("", *folders):
        if (folder in folders or not folders) and folder not in seen:
            seen.add(folder)
            waiting.append((folder, importers.get(folder, {}), 0))
    while waiting:
        at, needs, depth = waiting.popleft()
        for name, key in sorted(needs.items()):
            if not is_name(name) or name.startswith("@types/") or depth > _DEEPEST:
                continue
            if (node := nodes.get(key)) is None and not _is_inside(key):
                continue
            where = _where(taken, at, name, _same(nodes, key))
            if where is None:
                continue
            taken[where] = key
            if len(taken) > MOST:
                raise ValueError(f"more than {MOST} packages")
            if node is not None:
                waiting.append((where, node.needs, depth + 1))
            elif (folder := key.removeprefix(LINK)) not in seen:
                seen.add(folder)
                waiting.append((folder, importers.get(folder, {}), depth + 1))
    packages = [_package(top, where, nodes[key]) for where, key in taken.items() if key in nodes]
    links = [
        (posixpath.join(top, where), posixpath.join(top, key.removeprefix(LINK)))
        for where, key in taken.items()
        if key not in nodes
    ]
    return Packages(
        packages=tuple(sorted(packages, key=lambda p: p.place)), links=tuple(sorted(links)), left=tuple(left),
        paths=(path,),
    )  # fmt: skip


def _is_inside(key: str) -> bool:
    """Does it stand for a folder of the tree?"""
    parts = key.removeprefix(LINK).split("/")
    return key.startswith(LINK) and key != LINK and not {"", ".", ".."} & set(parts)


def _same(nodes: Mapping[str, Node], key: str) -> set[str]:
    """Keys that stand for the very same files: a package with other peers is the same archive."""
    node = nodes.get(key)
    return {key} if node is None else {key, f"{node.name}@{node.version}"}


def _where(taken: dict[str, str], at: str, name: str, same: set[str]) -> str | None:
    """The place for a package that is needed there; None where what is found from there is the same."""
    here = f"{at}/node_modules/{name}" if at else f"node_modules/{name}"
    folder = at
    while True:
        candidate = f"{folder}/node_modules/{name}" if folder else f"node_modules/{name}"
        if candidate in taken:
            found = taken[candidate]
            alike = found in same or _bare(found) in {_bare(key) for key in same}
            return None if alike or candidate == here else here
        if not folder:
            return candidate
        folder = posixpath.dirname(folder)


def _bare(key: str) -> str:
    """A key without pnpm's peers, ``a@1.0.0(b@2.0.0)``."""
    return key if key.startswith(LINK) else key.partition("(")[0]


def _package(top: str, where: str, node: Node) -> Package:
    return Package(
        place=posixpath.join(top, where), name=node.name, version=node.version, address=node.address,
        integrity=node.integrity,
    )  # fmt: skip
