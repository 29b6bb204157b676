"""pip's requirements files, flattened: their lines, those of files that they include, constraints.

Lines that name the tree itself, configure how things are built, or name indexes of the tree's own are left
out and said: what is asked is the index of the machine that gate runs on.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex
from gate.supply.python.requirements import MOST_LINES, Requirements, checked

_MOST_FILES: Final = 40
_MOST_BYTES: Final = 1 << 20
_HASH: Final = regex(r"\s--hash[= ](sha\d+:[0-9a-f]+)")
_INCLUDE: Final = regex(r"(?P<kind>-r|-c|--requirement|--constraint)[ =]*(?P<path>[^\s#]+)", re.ASCII)
_COMMENT: Final = regex(r"(?:^|\s)#.*$")
_LOCAL: Final = regex(r"(?:-e|--editable)(?:[ =]|\Z)|(?:\.{1,2}(?:/|\Z|\[)|file:|/)", re.ASCII)
_SILENT: Final = ("--require-hashes", "--no-binary", "--only-binary", "--prefer-binary", "--pre")


@dataclass
class _Flat:
    read: Callable[[str], bytes | None]
    lines: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def add(self, path: str, *, constrain: bool) -> None:
        """That file and what it includes, each once."""
        if path in self.paths or len(self.paths) >= _MOST_FILES:
            return
        raw = self.read(path)
        if raw is None or len(raw) > _MOST_BYTES:
            return
        self.paths.append(path)
        text = re.sub(r"\\\r?\n", " ", raw.decode("utf-8", "replace"))
        for line in text.splitlines()[:MOST_LINES]:
            self._line(path, _COMMENT.sub("", line).strip(), constrain=constrain)

    def _line(self, path: str, line: str, *, constrain: bool) -> None:
        include = _INCLUDE.match(line)
        if include is not None:
            if "://" not in include["path"]:
                below = posixpath.normpath(posixpath.join(posixpath.dirname(path), include["path"]))
                self.add(below, constrain=constrain or include["kind"] in ("-c", "--constraint"))
            return
        if not line or line.startswith(_SILENT) or _LOCAL.match(line):
            return
        if line.startswith("-"):
            self.left.append(
                f"{path}: {line.split(maxsplit=1)[0][:40]!r} is the tree's own; the machine's index is asked"
            )
            return
        hashes = _HASH.findall(line)
        kept, why = checked(_HASH.sub("", line))
        if kept:
            (self.constraints if constrain else self.lines).append(
                kept + "".join(f" --hash={h}" for h in hashes)
            )
        elif why:
            self.left.append(f"{path}: {line[:200]!r}: {why}")


def read(path: str, reader: Callable[[str], bytes | None]) -> Requirements:
    """The file at ``path`` with all that it includes. ``reader`` gives a file of the tree, or None.

    ``locked`` where every line has a hash: then it names all that is needed.
    """
    flat = _Flat(reader)
    flat.add(path, constrain=False)
    return Requirements(
        lines=tuple(flat.lines),
        constraints=tuple(flat.constraints),
        locked=bool(flat.lines) and all("--hash=" in line for line in flat.lines),
        left=tuple(flat.left),
        paths=tuple(flat.paths),
    )
