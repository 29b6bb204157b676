"""What a person sees while a check runs: stages, the run that ended last, how much of the budget is left."""

from __future__ import annotations

import re

import pytest

from gate.model.stage import Stage, StageOutcome
from gate.stages.progress import Live


def test_stages_runs_and_the_budget_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with Live(color=True) as live:
        live.started("prescreen")
        live.started("sandbox")
        live.ended(Stage(name="prescreen", outcome=StageOutcome.DONE, seconds=1.0))
        live.ended(Stage(name="prescreen:bandit", outcome=StageOutcome.DONE))  # has no line of its own
        live.note("sandbox", "3 of 8 runs, 140 s left; [red]shop at head: completed")
        live.refresh()
    seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert "✓ prescreen" in seen
    assert re.search(r"sandbox +0:00:00 3 of 8 runs, 140 s left; \[red\]shop at head: completed", seen)
    assert "bandit" not in seen
