"""The host's end of the launcher's list of changed files (launcher/file_manifest.py)."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from gate.inside.observer.text import text_of
from gate.model.run import SandboxSpec, Touched
from gate.sandbox.backends.container.options import plant_folders

_MOST: Final = 200_000
_WRITABLE: Final = ("/work", "/tmp", "/dev/shm")  # noqa: S108  # inside the sandbox
_HEADS: Final = 64
HEAD: Final = 32 << 10
"""Bytes of a beginning, at most: as in file_manifest.py."""
_Hex = Annotated[str, Meta(max_length=65536)]
_Number = Annotated[int, Meta(ge=0, le=1 << 62)]


class _Piece(Struct, frozen=True, forbid_unknown_fields=True):
    files: tuple[tuple[_Hex, _Number, _Number, _Number], ...]
    whole: bool
    heads: Annotated[tuple[tuple[_Hex, bytes], ...], Meta(max_length=_HEADS)] = ()
    full: Annotated[tuple[Annotated[str, Meta(max_length=4096)], ...], Meta(max_length=64)] = ()


_PIECE: Final = msgspec.json.Decoder(_Piece)  # made before there are threads, as in channel.py


def writable_folders(spec: SandboxSpec) -> tuple[str, ...]:
    """Every folder of a sandbox that the code can write to."""
    return (*_WRITABLE, *plant_folders(tuple(spec.files)))


class Manifest:
    """Gathers the pieces. ``touched`` is None until the last one came and said that nothing is missing."""

    def __init__(self) -> None:
        self.touched: tuple[Touched, ...] | None = None
        self.full: tuple[str, ...] = ()
        """Writable places without room for more, as the launcher found them."""
        self.heads: tuple[tuple[str, bytes], ...] = ()
        """What the first of the changed files begin with."""
        self.sizes: dict[str, int] = {}
        """Bytes of each changed file at the end, as far as it was told."""
        self._files: list[Touched] = []

    def feed(self, payload: bytes) -> None:
        """One frame. Raises ValueError or msgspec.DecodeError for what is no such list."""
        piece = _PIECE.decode(payload)
        if self.touched is not None or len(self._files) + len(piece.files) > _MOST:
            raise ValueError("a list of changed files too many")
        for path, device, inode, size in piece.files:
            name = text_of(bytes.fromhex(path))
            self._files.append(Touched(path=name, device=device, inode=inode, size=size))
            self.sizes[name] = size
        if len(self.heads) + len(piece.heads) > _HEADS:
            raise ValueError("too many beginnings of files")
        self.heads += tuple((text_of(bytes.fromhex(path)), data) for path, data in piece.heads)
        self.full += piece.full
        if not piece.files and piece.whole:
            self.touched = tuple(self._files)
