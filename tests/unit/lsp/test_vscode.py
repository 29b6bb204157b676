"""The VS Code extension: compiled against VS Code's types, and driven against the real language server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.npm_packages import npm_packages
from tests.paths import REPOSITORY

EXTENSION = REPOSITORY / "editors" / "vscode"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("vscode")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the extension with what it needs, compiled."""
    if shutil.which("node") is None:
        pytest.skip("no Node here: apt-get install nodejs")
    said = json.loads((EXTENSION / "package.json").read_text())
    wanted = said["dependencies"] | said["devDependencies"]
    modules = npm_packages(*(f"{name}@{version}" for name, version in wanted.items()))
    folder = tmp_path_factory.mktemp("vscode") / "extension"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules", "out"))
    (folder / "node_modules").symlink_to(modules)
    done = subprocess.run(
        ["node", "node_modules/typescript/bin/tsc", "-p", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return folder


def test_versions_are_exact_and_the_entry_is_what_is_compiled(built: Path) -> None:
    said = json.loads((EXTENSION / "package.json").read_text())
    assert all(v[0].isdigit() for v in (said["dependencies"] | said["devDependencies"]).values())
    assert (built / said["main"]).is_file()


def test_it_drives_the_real_language_server(built: Path) -> None:
    pytest.importorskip("pygls", reason="the extra lsp is not installed")
    gate = Path(sys.executable).with_name("gate")
    done = subprocess.run(
        ["node", "--test", "out/test/"],
        cwd=built,
        env={**os.environ, "GATE_COMMAND": str(gate)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 2" in done.stdout
