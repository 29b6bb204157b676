"""What an installing sandbox is given instead of the tree: an installer, and files that say what to do."""

from __future__ import annotations

import importlib.util
import io
import tarfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from gate.errors import InconclusiveError
from gate.model.change import TreeEntry

FILES: Final = "files"
"""Folder of the requirements files, below which their paths are as in the tree."""
CERTIFICATES: Final = "certificates.pem"
CONFIGURATION: Final = "pip.conf"


class InstallerFiles:
    """Implements model.change.Tree as far as a sandbox needs it: an archive."""

    def __init__(self, files: Mapping[str, bytes], *, uv: bytes = b"", alone: bool = False) -> None:
        self._files = dict(files)
        self._programs = {"uv": uv} if uv else {}
        self._alone = alone

    def entries(self) -> tuple[TreeEntry, ...]:
        """None: nobody plans with it."""
        return ()

    def read(self, path: str) -> bytes:
        """One file. Raises KeyError."""
        return self._files[path]

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Those that are there."""
        return ((path, self._files[path]) for path in paths if path in self._files)

    def archive(self) -> Iterator[bytes]:
        """An uncompressed tar with uv, else pip, beside the files; those ``alone`` where that was asked
        for.
        """
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            own = self._programs or ({} if self._alone else _pip()[1])
            for name, content in {**own, **self._files}.items():
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(content), 0o755 if name in self._programs else 0o644
                tar.addfile(member, io.BytesIO(content))
        yield out.getvalue()


@cache
def public_certificates() -> bytes:
    """PEM of the certificates that the pip beside gate trusts; empty where there is none."""
    found = importlib.util.find_spec("pip")
    path = Path(found.origin).parent / "_vendor/certifi/cacert.pem" if found and found.origin else None
    return path.read_bytes() if path and path.is_file() else b""


def pip_version() -> str:
    """Of the pip that installs. Raises InconclusiveError where gate has none beside it."""
    return _pip()[0]


@cache
def uv() -> tuple[str, bytes]:
    """The uv that is installed beside gate (PyPI's wheel): version and program; empty where there is none."""
    import importlib.metadata

    try:
        version = importlib.metadata.version("uv")
        files = importlib.metadata.files("uv") or []
    except importlib.metadata.PackageNotFoundError:
        return "", b""
    places = [Path(str(file.locate())) for file in files if file.name == "uv" and file.parent.name == "bin"]
    program = next((place for place in places if place.is_file()), None)
    return (version, program.read_bytes()) if program else ("", b"")


@cache
def _pip() -> tuple[str, dict[str, bytes]]:
    """The pip that is installed beside gate, read as files: version, path → content."""
    found = importlib.util.find_spec("pip")
    if found is None or found.origin is None:
        raise InconclusiveError(
            "sandbox.setup needs pip beside gate", advice="python3 -m pip install pip, in gate's environment."
        )
    folder = Path(found.origin).parent
    files = {
        f"pip/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    version = next(
        (
            line.split('"')[1]
            for line in files["pip/__init__.py"].decode().splitlines()
            if line.startswith('__version__ = "')
        ),
        "?",
    )
    return version, files
