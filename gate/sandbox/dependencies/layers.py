"""Where installed dependencies lie inside a sandbox, and how the code finds them.

A layer is what pip's ``--user`` scheme makes: lib/pythonX.Y/site-packages and bin, below one folder for each
side. Both sides' folders are there in every sandbox, read-only; the environment says which one counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gate.model.change import Side
from gate.model.run import SandboxSpec

FOLDER: Final = "/opt/deps"
_MODULES: Final = "-modules"
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_CHUNK: Final = 1 << 20


def mount_point(side: Side) -> str:
    """The layer's folder inside."""
    return f"{FOLDER}/{side}"


def mounts(spec: SandboxSpec) -> Iterator[tuple[str, Path]]:
    """(folder inside, tar on the host) of each layer, once: two sides may share one."""
    for of, end in ((spec.layers, ""), (spec.modules, _MODULES)):
        base, head = of.get("base"), of.get("head")
        if base is not None:
            yield mount_point("base") + end, base
        if head is not None and head != base:
            yield mount_point("head") + end, head


def modules_folder(modules: Mapping[Side, Path], side: Side) -> str | None:
    """Where a side's JavaScript packages lie inside."""
    layer = modules.get(side)
    if layer is None:
        return None
    return mount_point("base" if layer == modules.get("base") else side) + _MODULES


def environment(spec: SandboxSpec, side: Side, *, driver: bool) -> dict[str, str]:
    """Variables for a run on that side.

    The driver's own interpreter must not meet a layer: its files may be the change's (a ``.pth`` runs code
    at start-up). It is told by a name of ours and passes it on to the processes it forks (item_process.py).
    """
    layer = spec.layers.get(side)
    if layer is None:
        return {}
    folder = mount_point("base" if layer == spec.layers.get("base") else side)
    if driver:
        return {"GATE_DEPS": folder}
    return {"PYTHONUSERBASE": folder, "PATH": f"{folder}/bin:{_PATH}"}


def digest(tar: Path) -> str:
    """sha256 (hex) of a file."""
    total = hashlib.sha256()
    with tar.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            total.update(piece)
    return total.hexdigest()


def name_of(text: str) -> str:
    """32 hex digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
