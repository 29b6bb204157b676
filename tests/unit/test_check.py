"""The list of stages, and what becomes of a stage that fails: never a lost report, never a green one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate import check as module
from gate.change.git_range import open_range
from gate.errors import InconclusiveError
from gate.model.report import Report
from gate.model.score import Verdict
from gate.model.stage import SkipReason, Stage, StageOutcome
from gate.settings import load
from gate.stages.context import CheckContext, CheckStage, Ending
from tests.e2e.pulls import Pull, build

CODE = Pull(name="code", head={"src/added.py": "def one() -> int:\n    return 1\n"}, verdicts=())
DOCS = Pull(name="docs", head={"README.md": "# Prices\n"}, verdicts=())


def checked(folder: Path, pull: Pull = DOCS, *, sandbox: bool = True) -> Report:
    repo = build(pull, folder)
    with open_range(repo, "main", "head") as opened:
        settings = load(
            environ={}, flags={"sandbox.enabled": (sandbox, "--no-sandbox")} if not sandbox else {}
        )
        return module.check(opened, settings)


def stage_of(report: Report, name: str) -> Stage:
    (found,) = [stage for stage in report.stages if stage.name == name]
    return found


def instead(monkeypatch: pytest.MonkeyPatch, name: str, error: Exception) -> None:
    """That stage of the list raises; all others are the real ones."""

    def failing(_: CheckContext, __: Ending) -> None:
        raise error

    stages = tuple(
        CheckStage(name=s.name, run=failing, beside=s.beside, after=s.after, reported=s.reported)
        if s.name == name
        else s
        for s in module.STAGES
    )
    monkeypatch.setattr(module, "STAGES", stages)


@pytest.mark.parametrize("name", ["attribution", "prescreen", "sandbox", "exercised"])
def test_a_bug_in_a_stage_loses_neither_the_report_nor_the_other_stages(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(monkeypatch, name, KeyError("ours"))
    report = checked(tmp_path)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert {"attribution", "prescreen", "sandbox", "exercised"} <= {stage.name for stage in report.stages}
    failed = stage_of(report, name)
    assert failed.outcome is StageOutcome.FAILED
    assert failed.reason.startswith("internal error (KeyError); details in ")
    assert all(stage.looked for stage in report.stages if stage is not failed)


def test_a_stage_that_could_not_look_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, "sandbox", InconclusiveError("no sandbox works here", advice="See gate doctor."))
    assert stage_of(checked(tmp_path), "sandbox").reason == "no sandbox works here. See gate doctor."


def test_preparation_that_fails_is_a_failure_of_the_stage_that_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(monkeypatch, "readings", InconclusiveError("no grammar can be loaded", advice=""))
    report = checked(tmp_path)
    assert "readings" not in {stage.name for stage in report.stages}
    assert stage_of(report, "exercised").reason == "no grammar can be loaded."


def test_why_the_sandbox_was_skipped_is_a_value(tmp_path: Path) -> None:
    assert stage_of(checked(tmp_path), "sandbox").skip_reason is SkipReason.NOTHING_TO_RUN


def test_a_sandbox_that_is_switched_off_says_by_whom(tmp_path: Path) -> None:
    report = checked(tmp_path, CODE, sandbox=False)
    skipped = stage_of(report, "sandbox")
    assert skipped.skip_reason is SkipReason.SWITCHED_OFF
    assert skipped.reason == "switched off by --no-sandbox"
    assert report.verdict is Verdict.WARN
    assert report.exercised is not None
