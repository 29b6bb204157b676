"""Sealed entries in a folder of this user's: believed only when this program, with this key, wrote them.

An entry's name and its seal (HMAC-SHA-256) are made with a key that lies elsewhere: a folder that somebody
else has filled, or that came back from a shared store, holds nothing that is believed. The key is bound to
the level of trust, so that what a fork's check kept is not found by another one, and names to the program
(docs/cache.md). Nothing here raises for what lies in the folder: an entry that does not add up is none.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
import tempfile
import time
import zlib
from dataclasses import field, replace
from pathlib import Path
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.settings import CacheSettings

Trust = Literal["local", "own", "fork"]
"""Whose change is looked at: nobody's pull request, one of a branch of the repository itself, of a fork."""
Kind = Literal["check", "file", "program", "run"]
"""A whole check; what a reader or scanner said of one file; the digest of this program; a run of a probe."""

_VERSION: Final = b"gate-cache-1"
_SEAL: Final = 64
_TIME: Final = 8
MOST_ENTRY: Final = 32 << 20
"""Bytes of one entry, and of its content unpacked."""
LEAST_KEY: Final = 16
"""Characters that ``GATE_CACHE_KEY`` has at least."""


def kept_folder() -> Path | None:
    """Where entries lie: below ``GATE_CACHE``, else in this user's cache. None where there is no place."""
    if top := os.environ.get("GATE_CACHE"):
        return Path(top) / "kept"
    if top := os.environ.get("XDG_CACHE_HOME"):
        return Path(top) / "gate" / "kept"
    return Path(home) / ".cache" / "gate" / "kept" if (home := os.environ.get("HOME")) else None


@dataclass(frozen=True)
class Store:
    """Entries of one level of trust. ``program``: what they are bound to beside their names."""

    folder: Path
    key: bytes = field(repr=False)
    most: int = 256 << 20
    seconds: float = 7 * 24 * 3600
    program: str = ""

    def bound_to(self, program: str) -> Store:
        """The entries of this program, by its digest."""
        return replace(self, program=program)

    def get(self, kind: Kind, name: bytes) -> bytes | None:
        """What was kept under that name, None where nothing is that counts."""
        path = self._path(kind, name)
        try:
            content, made = self._opened(path)
        except (OSError, ValueError, zlib.error):
            return None
        if not 0 <= time.time() - made <= self.seconds:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the least recently used ones go first
        return content

    def put(self, kind: Kind, name: bytes, content: bytes) -> None:
        """Keep something. Never raises: a cache that cannot be written costs time only."""
        body = int(time.time()).to_bytes(_TIME, "big") + zlib.compress(content, 1)
        path = self._path(kind, name)
        if len(content) > MOST_ENTRY or len(body) > MOST_ENTRY:
            return
        with contextlib.suppress(OSError), tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
            try:
                file.write(_VERSION + b" " + self._seal(path.name, body) + b"\n" + body)
                file.flush()
                Path(file.name).replace(path)
            except OSError:
                Path(file.name).unlink(missing_ok=True)
                raise

    def sweep(self) -> None:
        """Drop what is too old and, beyond ``most`` bytes, what was used least recently. Never raises."""
        left = self.most
        for path, found in sorted(entries(self.folder), key=lambda each: -each[1].st_mtime):
            left -= found.st_size
            if left < 0 or time.time() - found.st_mtime > self.seconds:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _path(self, kind: Kind, name: bytes) -> Path:
        text = b"\0".join((kind.encode(), self.program.encode(), hashlib.sha256(name).digest()))
        return self.folder / f"{kind}-{self._mac(b'name', text)}"

    def _opened(self, path: Path) -> tuple[bytes, int]:
        """An entry's content and the second at which it was made. ValueError where it is not ours."""
        data = _read(path)
        head, _, body = data.partition(b"\n")
        version, _, seal = head.partition(b" ")
        if version != _VERSION or not hmac.compare_digest(seal, self._seal(path.name, body)):
            raise ValueError("the seal is not ours")
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(body[_TIME:], MOST_ENTRY)
        if not unpacker.eof:
            raise ValueError("it is too large")
        return content, int.from_bytes(body[:_TIME], "big")

    def _seal(self, name: str, body: bytes) -> bytes:
        return self._mac(b"seal", name.encode() + b"\0" + body).encode()

    def _mac(self, purpose: bytes, text: bytes) -> str:
        return hmac.new(self.key, purpose + b"\0" + text, hashlib.sha256).hexdigest()


def open_store(settings: CacheSettings, trust: Trust) -> Store | None:
    """Entries of this user and level of trust; None where nothing is to be kept or nowhere it can be."""
    folder = kept_folder() if settings.enabled else None
    try:
        secret = _key() if folder is not None else None
        if folder is None or secret is None:
            return None
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        found = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return None
    key = hmac.new(secret, b"gate cache\0" + trust.encode(), hashlib.sha256).digest()
    return Store(folder, key, settings.mb << 20, settings.days * 24 * 3600)


def entries(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """What lies there, ours or not, and half-written files."""
    found = []
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            with contextlib.suppress(OSError):
                if stat.S_ISREG((seen := path.lstat()).st_mode):
                    found.append((path, seen))
    return found


def _read(path: Path) -> bytes:
    """A regular file of this user's, of a size that an entry has. Raises OSError, ValueError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_ENTRY + 1024:
            raise ValueError("it is no entry")
        return file.read(MOST_ENTRY + 1024)


def _key() -> bytes | None:
    """The secret that seals are made with: ``GATE_CACHE_KEY``, else a random one of this user's, which lies
    outside of the cache. None where there is none. Raises OSError.
    """
    if given := os.environ.get("GATE_CACHE_KEY"):
        return given.encode() if len(given) >= LEAST_KEY else None
    top = os.environ.get("XDG_STATE_HOME") or (
        f"{home}/.local/state" if (home := os.environ.get("HOME")) else ""
    )
    if not top:
        return None
    path = Path(top) / "gate" / "cache.key"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileExistsError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(32))
    found = path.lstat()
    whole = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_size == 32
    return path.read_bytes() if whole and not found.st_mode & 0o077 else None
