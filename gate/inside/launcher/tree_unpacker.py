"""Unpacks the tree and the extra files inside the sandbox. Part of launch.py; standard library only.

The archive is made by the host, its names by the change: no path is followed through a link, none
leaves the folder, and nothing but files, folders and links comes out.
"""

from __future__ import annotations

import binascii
import contextlib
import os

TYPE_CHECKING = False  # typing alone takes a tenth of the start
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Dict, Tuple

    Overrides = Dict[str, Any]
    Parts = Tuple[bytes, ...]

CHUNK = 1 << 16


class LauncherError(Exception):
    """Our side cannot go on; the text goes to the host."""


def exactly(stream: BinaryIO, size: int) -> bytes:
    """Read that many bytes. Raises LauncherError when the host stops early."""
    data = stream.read(size)
    if len(data) != size:
        raise LauncherError("the host's message is cut off")
    return data


class Unpacker:
    """Writes an uncompressed tar below one folder. No path is ever followed through a link."""

    def __init__(self, root: str) -> None:
        os.makedirs(root, exist_ok=True)
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._last: Tuple[Parts, int] = ((), os.dup(self._root))

    def unpack(self, stream: BinaryIO, size: int) -> None:
        """Read ``size`` bytes of tar. Raises LauncherError for all but files, folders, links inside."""
        left = size
        over: Overrides = {}
        while left >= 512:
            header = exactly(stream, 512)
            left -= 512
            if header == bytes(512):
                break
            length = _number(header[124:136])
            kind = header[156:157]
            if kind not in b"xgLK":
                length = int(over.get("size", length))
            padded = (length + 511) // 512 * 512
            if padded > left or length < 0:
                raise LauncherError("tree archive is cut off")
            left -= padded
            if kind in b"xgLK":
                _override(over, kind, exactly(stream, padded)[:length])
                continue
            name = over.get("path", _header_name(header))
            link = over.get("linkpath", header[157:257].split(b"\0", 1)[0])
            over = {}
            self._member(kind, name, link, _number(header[100:108]) & 0o777, stream, length)
            if padded > length:
                exactly(stream, padded - length)
        while left > 0:
            left -= len(exactly(stream, min(left, CHUNK)))
        os.close(self._last[1])
        os.close(self._root)

    def _member(
        self, kind: bytes, name: bytes, link: bytes, mode: int, stream: BinaryIO, length: int
    ) -> None:
        parts = _parts(name)
        if not parts:  # the root itself
            return
        folder = self._folder(parts[:-1])
        try:
            if kind in (b"0", b"\0", b"7"):
                self._file(folder, parts[-1], mode, stream, length)
            elif kind == b"5":
                with contextlib.suppress(FileExistsError):
                    os.mkdir(parts[-1], 0o755, dir_fd=folder)
            elif kind == b"2":
                os.symlink(link, parts[-1], dir_fd=folder)
            elif kind == b"1":
                source = _parts(link)
                fd = self._walk(source[:-1])
                try:
                    os.link(source[-1], parts[-1], src_dir_fd=fd, dst_dir_fd=folder, follow_symlinks=False)
                finally:
                    os.close(fd)
            else:
                raise LauncherError(f"tree archive holds a {kind!r}")
        except (OSError, IndexError) as error:
            raise LauncherError(f"cannot unpack {name!r}: {error}") from None

    def _file(self, folder: int, name: bytes, mode: int, stream: BinaryIO, length: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, mode | 0o600, dir_fd=folder)
        try:
            while length:
                data = memoryview(exactly(stream, min(length, CHUNK)))
                length -= len(data)
                while data:
                    data = data[os.write(fd, data) :]
        finally:
            os.close(fd)

    def _folder(self, parts: Parts) -> int:
        if parts != self._last[0]:
            try:
                fd = self._walk(parts)
            except OSError as error:
                raise LauncherError(f"cannot unpack below {b'/'.join(parts)!r}: {error}") from None
            os.close(self._last[1])
            self._last = (parts, fd)
        return self._last[1]

    def _walk(self, parts: Parts) -> int:
        fd = os.dup(self._root)
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=fd)
            try:
                further = os.open(
                    part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd
                )
            finally:
                os.close(fd)
            fd = further
        return fd


def _parts(name: bytes) -> Parts:
    parts = tuple(part for part in name.split(b"/") if part not in (b"", b"."))
    if name.startswith(b"/") or b".." in parts or b"\0" in name:
        raise LauncherError(f"tree archive leaves its folder: {name!r}")
    return parts


def _number(field: bytes) -> int:
    if field[0] & 0x80:  # base 256
        return int.from_bytes(field, "big") & ((1 << 63) - 1)
    try:
        return int(field.strip(b"\0 ") or b"0", 8)
    except ValueError:
        raise LauncherError("tree archive is damaged") from None


def _header_name(header: bytes) -> bytes:
    name = header[:100].split(b"\0", 1)[0]
    prefix = header[345:500].split(b"\0", 1)[0]
    return prefix + b"/" + name if prefix and header[257:263] == b"ustar\0" else name


def _override(over: Overrides, kind: bytes, data: bytes) -> None:
    if kind in b"LK":
        over["path" if kind == b"L" else "linkpath"] = data.split(b"\0", 1)[0]
        return
    while kind == b"x" and data:
        length, _, _ = data.partition(b" ")
        try:
            record, data = data[: int(length)], data[int(length) :]
            key, _, value = record[len(length) + 1 : -1].partition(b"=")
        except ValueError:
            raise LauncherError("tree archive is damaged") from None
        if not record:
            raise LauncherError("tree archive is damaged")
        if key in (b"path", b"linkpath", b"size"):
            over[key.decode()] = value


def write_files(files: Dict[str, str]) -> None:
    """The extra files (canaries): absolute path to base64, mode 0600, folders 0700."""
    for path, content in files.items():
        folder = os.path.dirname(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(binascii.a2b_base64(content))
