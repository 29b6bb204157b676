"""Takes what an installing sandbox sends home: a tar, not believed, from which a clean one is made.

Plain files with names that stay inside; owners, times and other modes than "program or not" are ours.
What the files say is never acted upon here, but for the names and versions of the packages in them.
"""

from __future__ import annotations

import csv
import io
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Final

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.regex import regex

_MOST_FILES: Final = 100_000
_MOST_RECORD: Final = 8 << 20
_MODULES: Final = 6
_DISTRIBUTION: Final = regex(
    r"lib/python[0-9.]+/site-packages/([A-Za-z0-9][A-Za-z0-9._]*)-([A-Za-z0-9][\w.!+]*)\.dist-info/RECORD"
)
_PACKAGES: Final = regex(r"lib/python[0-9.]+/site-packages/")
_SUFFIXES: Final = regex(r"(?:\.py|(?:\.[\w-]+)?\.so)\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """An installed package: what can be imported of it (the first few names), and whether it brings a
    ``.pth`` file, which every interpreter acts on at its start.
    """

    name: str
    version: str
    modules: tuple[str, ...] = ()
    at_start: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def key(self) -> str:
        """Its name as an index compares it (PEP 503)."""
        return re.sub(r"[-_.]+", "-", self.name).lower()


class Arriving:
    """A file that grows piece by piece, up to ``most`` bytes: then ``too_much`` is true and no more kept."""

    def __init__(self, path: Path, most: int) -> None:
        self._out = path.open("xb")
        self._most = most
        self.size = 0
        self.too_much = False

    def keep(self, piece: bytes) -> None:
        """The next bytes. Raises OSError when the disk is full."""
        self.size += len(piece)
        self.too_much = self.too_much or self.size > self._most
        if not self.too_much:
            self._out.write(piece)

    def close(self) -> None:
        """No more will come. Raises OSError when the disk is full."""
        self._out.close()


def clean(raw: Path, made: Path, own: Mapping[str, bytes] | None = None) -> tuple[Distribution, ...]:
    """Write the clean tar to ``made`` (new) and say which packages are in it, by name. ``own``: files of
    ours that are in it, too (name → content), and no package of the index.

    Raises InconclusiveError for a tar that no launcher of ours makes, OSError when the disk is full.
    """
    records: dict[str, bytes] = {}
    starts: list[str] = []
    try:
        with tarfile.open(raw, "r:") as source, tarfile.open(made, "x:", format=tarfile.PAX_FORMAT) as out:
            folders: set[str] = set()
            for name, data in sorted((own or {}).items()):
                _folders(name, folders, out)
                copy = _member(name, tarfile.REGTYPE, 0o755 if "/bin/" in f"/{name}" else 0o644)
                copy.size = len(data)
                out.addfile(copy, io.BytesIO(data))
            for member, content in _plain(source):
                if own and member.name in own:
                    continue
                _folders(member.name, folders, out)
                copy = _member(member.name, tarfile.REGTYPE, 0o755 if member.mode & 0o100 else 0o644)
                copy.size = member.size
                source_of = content
                if _DISTRIBUTION.fullmatch(member.name) and member.size <= _MOST_RECORD:
                    records[member.name] = content.read()
                    source_of = io.BytesIO(records[member.name])
                if member.name.endswith(".pth") and _PACKAGES.match(member.name):
                    starts.append(_PACKAGES.sub("", member.name))
                out.addfile(copy, source_of)
    except (tarfile.TarError, ValueError, EOFError) as error:
        raise InconclusiveError(
            f"what the installation sent home is damaged: {type(error).__name__}", advice="Try again."
        ) from error
    return tuple(_distribution(name, data, starts) for name, data in sorted(records.items()))


def _folders(name: str, known: set[str], out: tarfile.TarFile) -> None:
    """Add the folders above a name that are not in the tar yet."""
    for folder in reversed(PurePosixPath(name).parents[:-1]):
        if str(folder) not in known:
            known.add(str(folder))
            out.addfile(_member(str(folder), tarfile.DIRTYPE, 0o755))


def _plain(source: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    for number, member in enumerate(source):
        parts = member.name.split("/")
        content = source.extractfile(member) if member.isreg() else None
        if content is None or number >= _MOST_FILES or not all(parts) or {".", ".."} & set(parts):
            raise ValueError("a member that is no plain file inside")
        if "\0" in member.name or len(member.name) > 1000:
            raise ValueError("a member with an impossible name")
        yield member, content


def _member(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode, member.mtime = kind, mode, 1_000_000_000
    return member


def _distribution(record: str, data: bytes, starts: list[str]) -> Distribution:
    match = _DISTRIBUTION.fullmatch(record)
    if match is None:
        raise ValueError(record)
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8", "replace"))))
    except csv.Error:
        rows = []
    paths = [row[0] for row in rows if row]
    return Distribution(
        name=match[1].replace("_", "-")[:100],
        version=match[2][:60],
        modules=_modules(paths),
        at_start=any(path in starts for path in paths),
    )


def _modules(paths: list[str]) -> tuple[str, ...]:
    """Names that import what a package brings: its top-level packages and modules; of a namespace that it
    shares with others, what lies below.
    """
    packages = {str(PurePosixPath(p).parent) for p in paths if p.endswith("/__init__.py")}
    found: dict[str, None] = {}
    for path in sorted(paths):
        parts = _SUFFIXES.sub("", path).split("/")
        if not _SUFFIXES.search(path) or path.startswith(("..", "/")):
            continue
        if parts[-1] == "__init__":
            parts = parts[:-1]
        name: list[str] = []
        for part in parts:  # down to the first real package
            name.append(part)
            if "/".join(name) in packages:
                break
        if name and all(part.isidentifier() for part in name):
            found[".".join(name)] = None
    return tuple(found)[:_MODULES]
