"""A person who interrupts a check gets the prompt back, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.pulls import Pull, build


@pytest.mark.parametrize(
    "how",
    [
        [signal.SIGINT],
        [signal.SIGTERM],
        pytest.param([signal.SIGTERM] * 20, id="SIGTERM again and again"),
        [signal.SIGINT, signal.SIGTERM],
    ],
)
@pytest.mark.backend
def test_interrupt_ends_quickly_and_leaves_nothing(tmp_path: Path, how: list[signal.Signals]) -> None:
    pull = Pull(name="slow", head={"src/pricing/slow.py": "while True:\n    pass\n"}, verdicts=())
    code = build(pull, tmp_path)
    gate = Path(sys.executable).parent / "gate"
    child = subprocess.Popen(
        [gate, "check", "--repo", code, "--base", "main", "--head", "head", "-v"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        # Whoever runs the tests in the background of a shell has SIGINT ignored, and so would this program.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert child.stderr is not None
    while b"sandbox" not in child.stderr.readline():
        pass
    time.sleep(1.0)
    for each in how:  # `timeout` sends its own to the whole group, too
        child.send_signal(each)
        time.sleep(0.02)
    err = child.communicate(timeout=30)[1].decode()
    assert child.returncode == 130, err
    assert "Traceback" not in err
    assert not list(tmp_path.glob("gate-*"))
