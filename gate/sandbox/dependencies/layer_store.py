"""Layers kept between checks, in this user's cache. A layer's digest is compared each time it is used.

An entry is ``<key>.json``, which names a tar by its content; the key says what went in.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import msgspec

from gate.dataclass import dataclass
from gate.model.run import Refused
from gate.sandbox.dependencies import layers
from gate.sandbox.dependencies.result_archive import Distribution
from gate.sandbox.images.runtimes import cache

FRESH: Final = 7 * 24 * 3600
"""Seconds after which an index is asked again: names without a version may have moved on."""
FRESH_INCOMPLETE: Final = 24 * 3600
"""The same for a layer that something is missing in, or stands in another version: a wheel may be there."""
_UNUSED: Final = 30 * 24 * 3600
_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Replaced:
    """A requirement of one exact version that is there in another ``version``, and why."""

    line: str
    version: str
    why: str

    @property
    def pinned(self) -> str:
        """The version that was asked for."""
        return re.split(r"[\s;]", self.line.partition("==")[2].strip(), maxsplit=1)[0]

    def __str__(self) -> str:
        name = re.split(r"[\s\[=]", self.line, maxsplit=1)[0]
        return f"{name} {self.version} instead of {self.pinned}"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """An installed set of packages: a clean tar, what is in it, and what its installation was refused.

    ``failed``: requirements that are not in it, and why; ``replaced``: those in another version. ``built``:
    code was run to make it. ``lasting``: a lock or a date says what is in it, so that it does not age.
    """

    tar: Path
    distributions: tuple[Distribution, ...] = ()
    refused: tuple[Refused, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    replaced: tuple[Replaced, ...] = ()
    built: bool = False
    lasting: bool = False
    cached: bool = False


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: int
    made: float
    tar: _Digest
    distributions: tuple[Distribution, ...]
    refused: tuple[Refused, ...]
    failed: tuple[tuple[str, str], ...] = ()
    replaced: tuple[Replaced, ...] = ()
    built: bool = False
    lasting: bool = False


_VERSION: Final = 1


class LayerStore:
    """The cache's folder. ``folder`` None: this user's own."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache("layers")

    def find(self, key: str) -> Layer | None:
        """A layer that is whole and fresh. An entry that does not add up is none."""
        try:
            entry = msgspec.json.decode((self._folder / f"{key}.json").read_bytes(), type=_Entry)
            tar = self._folder / f"{entry.tar}.tar"
            age = time.time() - entry.made
            most = FRESH_INCOMPLETE if entry.failed or entry.replaced else FRESH
            fresh = entry.version == _VERSION and age >= 0 and (entry.lasting or age < most)
            if not fresh or self._digest(tar) != entry.tar:
                return None
            self._used(key, entry.tar)
        except (OSError, msgspec.DecodeError):
            return None
        return Layer(
            tar=tar,
            distributions=entry.distributions,
            refused=entry.refused,
            failed=entry.failed,
            replaced=entry.replaced,
            built=entry.built,
            lasting=entry.lasting,
            cached=True,
        )

    def _digest(self, tar: Path) -> str:
        """The tar's digest. Reading hundreds of MiB takes a second, so it is kept beside the tar together
        with the file's inode and change time, which the kernel sets at every write and no call sets to
        another time. A restored or copied cache has others and is read again.
        """
        check = tar.with_suffix(".checked")
        now = _signature(tar)
        with contextlib.suppress(OSError, ValueError):
            signature, _, digest = check.read_text("ascii").partition("\n")
            if signature == now:
                return digest
        digest = layers.digest(tar)
        if _signature(tar) == now:
            _write(check, f"{now}\n{digest}".encode())
        return digest

    def _used(self, key: str, tar: str) -> None:
        """Note that an entry is of use: the least recently used go first."""
        now = time.time()
        for name in (f"{key}.json", f"{tar}.tar.used"):
            with contextlib.suppress(OSError):
                path = self._folder / name
                path.touch()
                os.utime(path, (now, now))

    def recall(self, key: str) -> bytes | None:
        """A small note that was kept under a key; None where there is none."""
        try:
            path = self._folder / f"{key}.note"
            os.utime(path)
            return path.read_bytes()
        except OSError:
            return None

    def remember(self, key: str, note: bytes) -> None:
        """Keep a small note. Never raises."""
        with contextlib.suppress(OSError):
            _write(self._folder / f"{key}.note", note)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder of its own for what is being made, on the same disk, gone at the end."""
        with tempfile.TemporaryDirectory(prefix="part-", dir=self._folder) as folder:
            yield Path(folder)

    def add(self, made: Path, layer: Layer, key: str | None) -> Layer:
        """Move a finished tar (in a ``room``) here; under a key it is found again. Raises OSError."""
        digest = layers.digest(made)
        tar = self._folder / f"{digest}.tar"
        made.chmod(0o600)
        made.replace(tar)
        _write(tar.with_suffix(".checked"), f"{_signature(tar)}\n{digest}".encode())
        layer = replace(layer, tar=tar)
        if key is not None:
            self.add_again(layer, key)
        return layer

    def add_again(self, layer: Layer, key: str) -> None:
        """A layer whose tar is here already can be found under a further key. Raises OSError."""
        entry = _Entry(
            version=_VERSION,
            made=time.time(),
            tar=layer.tar.stem,
            distributions=layer.distributions,
            refused=layer.refused,
            failed=layer.failed,
            replaced=layer.replaced,
            built=layer.built,
            lasting=layer.lasting,
        )
        _write(self._folder / f"{key}.json", msgspec.json.encode(entry))
        self._used(key, layer.tar.stem)

    def sweep(self, most: int | None = None) -> None:
        """Drop what nobody used for a month and, while there are more than ``most`` bytes of layers, those
        that were used least recently. Never raises.
        """
        old = time.time() - _UNUSED
        with contextlib.suppress(OSError):
            for path in list(self._folder.iterdir()):
                with contextlib.suppress(OSError):
                    if path.name.startswith("part-") and path.stat().st_mtime < time.time() - 24 * 3600:
                        shutil.rmtree(path, ignore_errors=True)
                    elif path.suffix == ".tar" and _last_use(path) < old:
                        self._drop(path)
                    elif path.suffix in (".json", ".note", ".used", ".checked", ".unpacked") and (
                        path.stat().st_mtime < old
                    ):
                        path.unlink()
            if most is not None:
                self._shrink(most)

    def _shrink(self, most: int) -> None:
        tars = sorted(self._folder.glob("*.tar"), key=_last_use)
        total = sum(_room(tar) for tar in tars)
        for tar in tars[:-1]:  # the newest may be in use
            if total <= most:
                break
            total -= _room(tar)
            with contextlib.suppress(OSError):
                self._drop(tar)

    def _drop(self, tar: Path) -> None:
        tar.unlink()
        shutil.rmtree(tar.with_suffix(""), ignore_errors=True)
        for other in (f"{tar.name}.used", f"{tar.stem}.checked", f"{tar.stem}.unpacked"):
            (self._folder / other).unlink(missing_ok=True)


def _last_use(tar: Path) -> float:
    for path in (tar.with_name(f"{tar.name}.used"), tar):
        with contextlib.suppress(OSError):
            return path.stat().st_mtime
    return 0.0


def _room(tar: Path) -> int:
    """Bytes of a layer, unpacked where it is."""
    return tar.stat().st_size * (2 if tar.with_suffix("").is_dir() else 1)


def _signature(path: Path) -> str:
    found = path.stat()
    return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all."""
    handle, name = tempfile.mkstemp(prefix="part-", dir=path.parent)
    with os.fdopen(handle, "wb") as out:
        out.write(content)
    Path(name).replace(path)
