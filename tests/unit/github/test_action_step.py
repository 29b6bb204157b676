"""The action's step apart from GitHub: inputs, exit codes, what is said when nothing could be looked at."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from gate.cli import main
from gate.errors import Exit, UsageError
from gate.github.publishing.action_step import FILES, _make_room, exit_code
from gate.github.publishing.step import inputs
from gate.model.score import Verdict
from tests.e2e.harmless_pulls import HARMLESS
from tests.e2e.pulls import build, git


@pytest.mark.parametrize(
    ("verdict", "fail_on", "code"),
    [
        (Verdict.PASS, "", 0),
        (Verdict.WARN, "", 0),
        (Verdict.WARN, "fail", 0),
        (Verdict.WARN, "warn", 1),
        (Verdict.PASS, "warn", 0),
        (Verdict.FAIL, "", 1),
        (Verdict.FAIL, "warn", 1),
        (Verdict.INCONCLUSIVE, "", 3),
        (Verdict.INCONCLUSIVE, "warn", 3),
    ],
)
def test_the_exit_code_is_the_verdicts(verdict: Verdict, fail_on: str, code: int) -> None:
    assert exit_code(verdict, fail_on) == code


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FAIL_ON", "never"),
        ("FAIL_ON", "inconclusive"),
        ("SARIF", "yes"),
        ("COMMENT", "$(id)"),
        ("MODE", "x"),
    ],
)
def test_inputs_that_are_not_allowed(name: str, value: str) -> None:
    with pytest.raises(UsageError, match="inputs"):
        inputs({f"GATE_INPUT_{name}": value})


def test_inputs() -> None:
    found = inputs({"GATE_INPUT_BASE": " a ", "GATE_INPUT_FAIL_ON": "warn", "GATE_INPUT_SARIF": ""})
    assert (found.base, found.fail_on, found.sarif, found.repository) == ("a", "warn", "", ".")


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runner's environment; the folder with its files."""
    for name in ("output", "step_summary"):
        (tmp_path / name).write_text("")
        monkeypatch.setenv(f"GITHUB_{name.upper()}", str(tmp_path / name))
    monkeypatch.setenv("GITHUB_REPOSITORY", "octo/shop")
    for name in ("GITHUB_EVENT_PATH", "GITHUB_TOKEN", "GATE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GATE_INPUT_OUTPUT", str(tmp_path / "out"))
    return tmp_path


def test_not_having_looked_is_said_everywhere(step: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_INPUT_REPOSITORY", str(step))
    monkeypatch.setenv("GATE_INPUT_BASE", "main")
    monkeypatch.setenv("GATE_INPUT_HEAD", "head")
    assert main(["action"]) == Exit.USAGE
    assert "inconclusive" in (step / "output").read_text()
    assert "gate could not look" in (step / "step_summary").read_text()


def test_no_event_and_no_range(step: Path) -> None:
    assert main(["action"]) == Exit.USAGE
    assert "which change" in (step / "step_summary").read_text()


def test_a_broken_event_is_refused(step: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (step / "event").write_text("{")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(step / "event"))
    assert main(["action"]) == Exit.USAGE


def test_a_push_is_told_in_the_summary(
    step: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No pull request, no sandbox (fast): warn at best, files on disk, nothing sent."""
    repo = build(HARMLESS[0], step)
    base, head = git(repo, "rev-parse", "main"), git(repo, "rev-parse", "head")
    (step / "event").write_text(json.dumps({"before": base, "after": head, "ref": "refs/heads/x"}))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(step / "event"))
    monkeypatch.setenv("GATE_INPUT_REPOSITORY", str(repo))
    monkeypatch.setenv("GATE_SANDBOX_ENABLED", "false")
    monkeypatch.setenv("GITHUB_API_URL", "https://192.0.2.1")
    assert main(["action"]) == Exit.OK
    assert {file.name for file in (step / "out").iterdir()} == {"report.json", "report.md", "report.sarif"}
    assert (step / "output").read_text().splitlines()[1] == "warn"
    assert "### " in (step / "step_summary").read_text()
    out = capsys.readouterr().out
    assert out.startswith("::stop-commands::")
    monkeypatch.setenv("GATE_INPUT_FAIL_ON", "warn")
    assert main(["action"]) == Exit.BLOCKED


@pytest.mark.parametrize("contained", [False, True])
@pytest.mark.slow
def test_links_of_the_change_lead_our_words_nowhere(
    step: Path, monkeypatch: pytest.MonkeyPatch, contained: bool
) -> None:
    """The work space is the change's own: its gate-report may be a link, a file, full of both."""
    repo = build(HARMLESS[0], step)
    monkeypatch.chdir(repo)
    monkeypatch.setenv("GATE_INPUT_BASE", "main")
    monkeypatch.setenv("GATE_INPUT_HEAD", "head")
    monkeypatch.setenv("GATE_SANDBOX_ENABLED", "false")
    monkeypatch.delenv("GATE_INPUT_OUTPUT")
    monkeypatch.setenv("GATE_CONTAINED", "1" if contained else "")
    elsewhere = step / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "report.json").write_text("precious")
    out = repo / "gate-report"
    out.symlink_to(elsewhere)
    assert main(["action"]) == Exit.OK
    assert [file.name for file in elsewhere.iterdir()] == ["report.json"]
    assert (elsewhere / "report.json").read_text() == "precious"
    assert not out.is_symlink()
    for file in out.iterdir():
        file.unlink()
    (out / "report.json").symlink_to(elsewhere / "report.json")
    (out / "report.md").symlink_to(elsewhere / "dangling")
    (out / "report.sarif").mkdir()
    (out / "report.sarif" / "x").touch()
    assert main(["action"]) == Exit.OK
    assert (elsewhere / "report.json").read_text() == "precious"
    assert not (elsewhere / "dangling").exists()
    assert all(file.is_file() and not file.is_symlink() for file in out.iterdir())
    told = (step / "output").read_text().splitlines()
    prefix = "" if contained else f"{repo}/"
    assert f"{prefix}gate-report/report.json" in told
    assert f"{prefix}gate-report/report.sarif" in told
    for file in out.iterdir():
        file.unlink()
    out.rmdir()
    out.write_text("no folder")
    assert main(["action"]) == Exit.OK
    assert json.loads((out / "report.json").read_text())["verdict"] == "warn"
    monkeypatch.setenv("GATE_INPUT_BASE", "nowhere")
    assert main(["action"]) == Exit.USAGE
    assert list(out.iterdir()) == [], "a report that is there is about this change"


def test_folders_too_deep_to_be_removed_are_out_of_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    (out / "report.json").mkdir(parents=True)
    (out / "report.md").write_text("the change's own")
    monkeypatch.chdir(out / "report.json")
    for _ in range(1_800):  # a path that git can still check out
        os.mkdir("a")
        os.chdir("a")
    monkeypatch.chdir(tmp_path)
    _make_room(out)
    assert {file.name for file in out.iterdir()}.isdisjoint(FILES.values())
    subprocess.run(["rm", "-rf", str(out)], check=True)
