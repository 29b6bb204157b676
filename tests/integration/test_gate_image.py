"""The image that holds gate: built, started without root, judging a change through the engine's socket."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gate import __version__
from tests.e2e.hostile_pulls import HOSTILE
from tests.e2e.pulls import build
from tests.paths import REPOSITORY

SOCKET = Path("/var/run/docker.sock")

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.timeout(1_500),
    pytest.mark.skipif(
        not os.environ.get("GATE_TEST_IMAGE"), reason="takes minutes and 600 MB; GATE_TEST_IMAGE=1 runs it"
    ),
]


def test_the_image_blocks_a_hostile_change(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, str(REPOSITORY / "scripts" / "image.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    pull = next(p for p in HOSTILE if p.verdicts == ("fail",))
    repo = build(pull, tmp_path)
    for path in (*tmp_path.parents, *tmp_path.rglob("*"), tmp_path):
        if path.is_relative_to(tmp_path.parents[1]):
            path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
    words = ["docker", "run", "--rm", "--label", "gate=itself", "--network", "none"]
    words += ["--read-only", "--tmpfs", "/tmp", "--tmpfs", "/home/gate:mode=1777", "--cap-drop", "ALL"]
    words += ["--security-opt", "no-new-privileges", "--group-add", str(SOCKET.stat().st_gid)]
    words += ["-v", f"{SOCKET}:{SOCKET}", "-v", f"{repo}:/src:ro", f"gate:{__version__}"]
    ran = subprocess.run(
        [*words, "check", "--base", "main", "--head", "head"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "seen running" in ran.stdout
    assert "isolation: container" in ran.stdout
    who = subprocess.run(
        [*words[:-1], "--entrypoint", "id", words[-1], "-u"], capture_output=True, text=True, check=False
    )
    assert who.stdout.strip() == "65532"
