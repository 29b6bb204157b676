"""A bubblewrap sandbox is handed on only when bwrap has made it: who enters its network earlier breaks it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gate.model.run import SandboxSpec
from gate.sandbox.backends.bubblewrap import backend
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend, BubblewrapSandbox
from gate.sandbox.tree_archive import NoTree


def test_the_sandbox_is_the_launcher_s_when_it_is_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = BubblewrapBackend().probe()
    if not found.available:
        pytest.skip(found.reason)
    seen: list[bytes] = []
    start = BubblewrapSandbox._start

    def look(self: BubblewrapSandbox, *args: object) -> None:
        start(self, *args)  # type: ignore[arg-type]
        seen.append(Path(f"/proc/{self.network_pid}/comm").read_bytes().strip())

    monkeypatch.setattr(BubblewrapSandbox, "_start", look)
    with BubblewrapBackend().open(SandboxSpec(network="sinkhole"), NoTree(), NoTree()) as session:
        session.expect(6)
        until = time.monotonic() + 30
        while len(seen) < 2 and time.monotonic() < until:
            time.sleep(0.05)
    assert seen
    assert b"bwrap" not in seen


def test_a_bwrap_that_died_or_hangs_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        assert backend._is_through(other.pid)
        other.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + 10
        while backend._is_through(other.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not backend._is_through(other.pid)  # a zombie
    assert not backend._is_through(other.pid)
    monkeypatch.setattr(backend, "_SETUP_SECONDS", 0.2)
    with subprocess.Popen([sys.executable, "-c", _NAMED]) as named:
        until = time.monotonic() + 10
        while Path(f"/proc/{named.pid}/comm").read_bytes() != b"bwrap\n" and time.monotonic() < until:
            time.sleep(0.01)
        assert not backend._is_through(named.pid)
        named.kill()


_NAMED = "import pathlib, time; pathlib.Path('/proc/self/comm').write_bytes(b'bwrap'); time.sleep(30)"
