"""A short run of the fuzzer, so that it stays runnable; longer ones by hand."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import REPOSITORY


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
def test_nothing_that_reads_hostile_bytes_crashes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.hostile.fuzz_trace", "-runs=20000", "-seed=7", "-max_len=600"]
    done = subprocess.run(
        [*command, f"-artifact_prefix={tmp_path}/"],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:].decode(errors="replace")
    assert b"Done 20000 runs" in done.stderr
