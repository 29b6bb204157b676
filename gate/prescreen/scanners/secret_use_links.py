"""Files of one side read together: what functions of one do with what another gives them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_for_show
from gate.model.change import Tree
from gate.prescreen.scanners.secret_use_evidence import read_uses
from gate.secret_uses.facts import FileUses, Outline
from gate.secret_uses.shell_uses import ENDINGS as SHELL

Files = Sequence[tuple[str, bytes, bool]]
_LINKS: Final = 2
"""How many files a value is followed through, one after another, besides its own."""
_OUTLINES: Final = 200
_SEARCHED: Final = 400
_READ: Final = 24
_BYTES: Final = 200_000
_DEFINES: Final = (
    b"def ", b"function ", b"func ", b"fun ", b"const ", b") ", b"> ", b"async ", b"static ", b"void ",
    b"fn ", b"public ", b"self.", b"Task ", b"String ", b"  ", b"\t",
)  # fmt: skip
"""What stands before the name of a function where it is defined."""


def linked(files: Files, tree: Tree, until: float) -> tuple[dict[str, FileUses], list[tuple[str, str]]]:
    """The files of one side, each with the functions of the others that take a parameter to pieces, and, for
    secrets of users, with those of the tree that take one somewhere.
    """
    read, unlooked = read_uses(files, until)
    by_name: dict[str, Outline] = {}
    for _ in range(_LINKS):
        outlines = [one for facts in read.values() for one in facts.outlines]
        by_name = {one.name: one for one in outlines}
        named = _that_name(files, by_name)
        if not by_name or len(files) < 2:
            break
        again, _ = read_uses(named, until, _most(by_name))
        if [one for facts in (read | again).values() for one in facts.outlines] == outlines:
            read |= again
            break
        read |= again
    sinks = _sinks(read, files, tree, until)
    if sinks:
        again, _ = read_uses(_that_name(files, sinks), until, _most({**by_name, **sinks}))
        read |= again
    return read, unlooked


def _that_name(files: Files, names: Mapping[str, Outline]) -> Files:
    return [file for file in files if any(name.encode() in file[1] for name in names)]


def _most(outlines: Mapping[str, Outline]) -> list[Outline]:
    return [outlines[name] for name in sorted(outlines)][:_OUTLINES]


def _sinks(read: Mapping[str, FileUses], files: Files, tree: Tree, until: float) -> dict[str, Outline]:
    """Functions that take a parameter into a log, a header, an event: those that secrets of users go to."""
    asked = {name for facts in read.values() for name in facts.asked if len(name) > 2}
    if not asked or time.monotonic() > until:
        return {}
    ends = {PurePosixPath(path).suffix for path, facts in read.items() if facts.asked} - {*SHELL}
    own = {path for path, _, _ in files}
    near = sorted(
        (e.path for e in tree.entries() if PurePosixPath(e.path).suffix in ends and e.size < _BYTES),
        key=lambda path: (_distance(path, own), path),
    )
    paths = tuple(p for p in near if not is_for_show(p))[:_SEARCHED]
    texts = [(p, d, p.endswith(".py")) for p, d in tree.read_many(paths) if _defines(d, asked)][:_READ]
    found, _ = read_uses(texts, until, sinks=True) if texts else ({}, [])
    return {one.name: one for facts in found.values() for one in facts.outlines if one.name in asked}


def _defines(data: bytes, names: set[str]) -> bool:
    return any(before + name.encode() + b"(" in data for name in names for before in _DEFINES)


def _distance(path: str, own: set[str]) -> int:
    """Files beside the changed ones come first."""
    folder = str(PurePosixPath(path).parent)
    return 0 if any(one.startswith(f"{folder}/") or folder == "." for one in own) else 1
