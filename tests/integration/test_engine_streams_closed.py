"""What is attached to a container is closed in order: nothing is left that complains when it is collected."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.pulls import Pull, build

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_a_check_in_containers_leaves_no_stream_half_closed(tmp_path: Path) -> None:
    repo = build(Pull(name="x", head={"src/pricing/new.py": "x = 1\n"}, verdicts=()), tmp_path)
    # In development mode every Python tells what 3.13 always does: that closing failed in a finaliser.
    words = [sys.executable, "-X", "dev", "-W", "ignore", "-m", "gate.cli", "check", "--repo", str(repo)]
    words += ["--base", "main", "--head", "head", "--backend", "docker", "-q"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
