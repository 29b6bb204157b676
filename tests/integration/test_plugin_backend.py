"""A backend of a plugin: chosen by its name, never by ``auto``, and a check really runs behind it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.contract.capabilities import capability
from tests.unit.test_plugins import install_plugin, plugin_environment, run_gate, shop

BOX = """
from dataclasses import replace
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend

class Box(BubblewrapBackend):
    name = "box"
    def probe(self):
        return replace(super().probe(), backend="shop-gate.box")
"""
ENTRIES = "[gate.backends]\nbox = shop_gate.box:Box\n"


def test_a_check_runs_behind_a_plugin_s_backend(tmp_path: Path) -> None:
    found = capability("bubblewrap")
    if not found.available:
        pytest.skip(found.reason)
    python, packages = plugin_environment(tmp_path / "env")
    install_plugin(packages, entries=ENTRIES, more={"box.py": BOX})
    repo = shop(tmp_path)
    (repo / "a.py").write_text("A = 1\n")
    words = ["check", "--worktree", "--fast", "--json", "r.json", "--no-cache", "--backend"]
    done = run_gate(python, repo, *words, "shop-gate.box")
    assert done.returncode == 0, done.stderr
    report = json.loads((repo / "r.json").read_text())
    assert report["sandbox"]["backend"] == "shop-gate.box"
    assert [run["outcome"] for run in report["sandbox"]["runs"] if run["side"] == "head"] == ["completed"]
    unnamed = run_gate(python, repo, *words, "shop-gate.box", named="")
    assert unnamed.returncode == 2
    assert "shop-gate.box" in unnamed.stderr
