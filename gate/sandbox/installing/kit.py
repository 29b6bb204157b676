"""What an installing sandbox is given instead of the tree: pip, and the files that say what is needed."""

from __future__ import annotations

import importlib.util
import io
import tarfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from gate.errors import CouldNotLook
from gate.model.change import TreeEntry

FILES: Final = "files"
"""Folder of the requirements files, below which their paths are as in the tree."""
CERTIFICATES: Final = "certificates.pem"
CONFIGURATION: Final = "pip.conf"


class Kit:
    """Implements model.change.Tree as far as a sandbox needs it: an archive."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(files)

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
        """An uncompressed tar with pip beside the files."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name, content in {**_pip()[1], **self._files}.items():
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(content), 0o644
                tar.addfile(member, io.BytesIO(content))
        yield out.getvalue()


def pip_version() -> str:
    """Of the pip that installs. Raises CouldNotLook where gate has none beside it."""
    return _pip()[0]


@cache
def _pip() -> tuple[str, dict[str, bytes]]:
    """The pip that is installed beside gate, read as files: version, path → content."""
    found = importlib.util.find_spec("pip")
    if found is None or found.origin is None:
        raise CouldNotLook(
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
