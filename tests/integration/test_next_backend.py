"""A backend that fails before anything ran behind it: ``auto`` takes the next, once; a named one has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

from gate.cli import main
from gate.errors import BackendFailedError
from gate.model.change import Tree
from gate.model.run import SandboxSpec
from gate.sandbox.backends import registry
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend
from tests.e2e.pulls import Pull, build

PULL = Pull(name="function", verdicts=(), head={"src/added.py": "def one() -> int:\n    return 1\n"})


class Broken(BubblewrapBackend):
    """It is found to work, and then it does not: as where a deferred trial start fails."""

    name = "microvm"

    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> NoReturn:
        """Fails."""
        raise BackendFailedError("the trial start ended with 1")


@pytest.fixture(autouse=True)
def _two(monkeypatch: pytest.MonkeyPatch) -> None:
    if not BubblewrapBackend().probe().available:
        pytest.skip("no bubblewrap here")
    monkeypatch.setenv("GATE_SANDBOX_SETUP", "none")
    monkeypatch.setattr(registry, "BACKENDS", {"microvm": Broken, "bubblewrap": BubblewrapBackend})


def report_of(tmp_path: Path, *words: str) -> dict[str, Any]:
    file, repo = tmp_path / "r.json", build(PULL, tmp_path)
    command = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "-q"]
    main([*command, "--json", str(file), *words])
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def test_auto_goes_on_with_the_next(tmp_path: Path) -> None:
    report = report_of(tmp_path)
    assert (report["verdict"], report["sandbox"]["backend"]) == ("pass", "bubblewrap")
    assert [s["outcome"] for s in report["stages"] if s["name"] == "sandbox"] == ["done"]


def test_one_that_was_asked_for_by_name_has_no_next(tmp_path: Path) -> None:
    report = report_of(tmp_path, "--backend", "microvm")
    assert report["verdict"] == "inconclusive"
    (sandbox,) = [s for s in report["stages"] if s["name"] == "sandbox"]
    assert (sandbox["outcome"], "trial start ended with 1" in sandbox["reason"]) == ("failed", True)
