"""Packages of the npm registry that tests use as they are: installed once a machine, no script run."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def npm_packages(*wanted: str) -> Path:
    """The folder ``node_modules`` with these (``axe-core@4.14.1``); skips where they cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm here: apt-get install npm")
    named = "-".join(name.replace("/", "+").lstrip("@") for name in sorted(wanted))
    kept = Path(tempfile.gettempdir()) / f"gate-npm-{os.getuid()}" / named
    if (kept / "node_modules").is_dir():
        return kept / "node_modules"
    kept.parent.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        words = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, *wanted]
        done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
        if done.returncode:
            pytest.skip(f"the npm registry has not given {', '.join(wanted)}: {done.stderr.strip()[-200:]}")
        if not kept.exists():
            Path(folder).chmod(0o755)
            shutil.copytree(folder, kept, symlinks=True, dirs_exist_ok=True)
    return kept / "node_modules"
