"""Layers kept between checks, in this user's cache. A layer's digest is compared each time it is used.

An entry is ``<key>.json``, which names a tar by its content; the key says what went in.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec

from gate.model.run import Refused
from gate.sandbox import layers
from gate.sandbox.installing.home import Distribution
from gate.sandbox.runtimes import cache

FRESH: Final = 7 * 24 * 3600
"""Seconds after which an index is asked again: names without a version may have moved on."""
_UNUSED: Final = 30 * 24 * 3600
_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """An installed set of packages: a clean tar, what is in it, and what its installation was refused."""

    tar: Path
    distributions: tuple[Distribution, ...] = ()
    refused: tuple[Refused, ...] = ()
    cached: bool = False


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: int
    made: float
    tar: _Digest
    distributions: tuple[Distribution, ...]
    refused: tuple[Refused, ...]


_VERSION: Final = 1


class Store:
    """The cache's folder. ``folder`` None: this user's own."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache("layers")

    def find(self, key: str) -> Layer | None:
        """A layer that is whole and fresh. An entry that does not add up is none."""
        try:
            entry = msgspec.json.decode((self._folder / f"{key}.json").read_bytes(), type=_Entry)
            tar = self._folder / f"{entry.tar}.tar"
            fresh = entry.version == _VERSION and 0 <= time.time() - entry.made < FRESH
            if not fresh or layers.digest(tar) != entry.tar:
                return None
            os.utime(tar)
        except (OSError, msgspec.DecodeError):
            return None
        return Layer(tar=tar, distributions=entry.distributions, refused=entry.refused, cached=True)

    @contextlib.contextmanager
    def room(self) -> Iterator[Path]:
        """A folder of its own for what is being made, on the same disk, gone at the end."""
        with tempfile.TemporaryDirectory(prefix="part-", dir=self._folder) as folder:
            yield Path(folder)

    def add(self, made: Path, layer: Layer, key: str | None) -> Layer:
        """Move a finished tar (in a ``room``) here; under a key it is found again. Raises OSError."""
        digest = layers.digest(made)
        tar = self._folder / f"{digest}.tar"
        made.chmod(0o600)
        made.replace(tar)
        if key is not None:
            entry = _Entry(
                version=_VERSION,
                made=time.time(),
                tar=digest,
                distributions=layer.distributions,
                refused=layer.refused,
            )
            part = made.with_suffix(".json")
            part.write_bytes(msgspec.json.encode(entry))
            part.replace(self._folder / f"{key}.json")
        return Layer(tar=tar, distributions=layer.distributions, refused=layer.refused)

    def sweep(self) -> None:
        """Drop what nobody used for a month. Never raises."""
        old = time.time() - _UNUSED
        with contextlib.suppress(OSError):
            for path in list(self._folder.iterdir()):
                with contextlib.suppress(OSError):
                    if path.name.startswith("part-") and path.stat().st_mtime < time.time() - 24 * 3600:
                        shutil.rmtree(path, ignore_errors=True)
                    elif path.suffix in (".tar", ".json") and path.stat().st_mtime < old:
                        path.unlink()
                        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
