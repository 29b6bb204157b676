"""The programs of a Debian release as a folder, for sandboxes without an engine.

Made once, of the same packages as the containers' images, beside the record of believed images: nothing that
a job restores from a cache lies there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gate import process
from gate.errors import InconclusiveError
from gate.sandbox.images import debian, known_images

_UNPACK_SECONDS: Final = 300
_PARTS: Final = ("./usr", "./etc", "./bin", "./sbin", "./lib*")


def present(python: str, *, services: bool = False) -> Path | None:
    """The folder with that Python (``3.13``; empty: of this machine's release), where it was made;
    ``services``: with servers for tests.
    """
    folder = _place(python, services=services)
    try:
        found = folder.lstat()
    except OSError:
        return None
    safe = found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o022
    return folder if stat.S_ISDIR(found.st_mode) and safe else None


def ensure(python: str, say: Callable[[str], None], *, services: bool = False) -> Path:
    """The folder, made where it is missing: whole or not at all. Raises InconclusiveError."""
    if found := present(python, services=services):
        return found
    folder = _place(python, services=services)
    what = " and ".join([f"Python {python}"] * bool(python) + ["PostgreSQL and Redis"] * services)
    try:
        folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with (folder.parent / "lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if found := present(python, services=services):
                return found
            say(f"making a system with {what} from Debian packages (a minute or two, once)")
            _make(python, folder, services=services)
    except OSError as error:
        raise InconclusiveError(
            f"a system with {what} cannot be kept in {folder.parent}: {error.strerror or error}"
        ) from error
    return folder


def _place(python: str, *, services: bool) -> Path:
    name = debian.base_name(python, services=services).replace(":", "-")
    return known_images.record_folder() / "systems" / name


def _make(python: str, folder: Path, *, services: bool) -> None:
    part = Path(tempfile.mkdtemp(prefix="part-", dir=folder.parent))
    try:
        archive = part / "root.tar"
        debian.make(archive, debian.PACKAGES, debian.PYTHONS.get(python), services=services)
        root = part / "root"
        root.mkdir(mode=0o755)
        words: list[str | Path] = ["tar", "--extract", "--no-same-owner", "--file", archive]
        words += ["--directory", root, "--wildcards", *_PARTS]
        done = process.run(words, deadline=_UNPACK_SECONDS)
        if not done.ok:
            said = " ".join(done.stderr.decode(errors="replace").split())[-200:]
            raise InconclusiveError(f"a system of Debian packages cannot be unpacked: {said}")
        _take_rights(root)
        root.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _take_rights(root: Path) -> None:
    """Nothing in it is setuid or anybody's to write: it lies on the host."""
    for place, _, names in os.walk(root):
        for name in (".", *names):
            path = Path(place, name)
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and mode & 0o6022:
                with contextlib.suppress(FileNotFoundError):
                    path.chmod(stat.S_IMODE(mode) & ~0o6022)
