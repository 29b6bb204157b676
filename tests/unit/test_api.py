"""The Python API: what it judges, which settings are in force, what it raises, and its page's example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gate import api
from gate.errors import InconclusiveError, UsageError
from gate.model.score import Verdict
from gate.model.stage import Stage
from tests.e2e.pulls import Pull, build, git
from tests.paths import REPOSITORY

SHELL = Pull(name="shop", head={"run.py": "import os\nos.system('id')\n"}, verdicts=())
OFF = {"sandbox.enabled": False}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return build(SHELL, tmp_path)


class Heard:
    """Remembers which stages it was told of."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def started(self, name: str) -> None:
        self.stages.append(name)

    def note(self, name: str, text: str) -> None: ...

    def ended(self, stage: Stage) -> None:
        self.stages.append(f"{stage.name} {stage.outcome.value}")


def test_a_range_is_judged_and_the_caller_is_named_as_the_origin_of_settings(repo: Path) -> None:
    heard = Heard()
    report = api.check(str(repo), "main", "head", OFF, heard)
    assert report.verdict is Verdict.WARN
    assert [f.path for f in report.change.files] == ["run.py"]
    assert report.settings_origin["sandbox.enabled"] == "the caller"
    assert "prescreen done" in heard.stages


def test_without_names_it_is_head_against_the_default_branch(repo: Path) -> None:
    git(repo, "checkout", "-q", "head")
    assert api.check(repo, settings=OFF).change.base == git(repo, "rev-parse", "main")


def test_settings_come_from_base_and_not_from_head(tmp_path: Path) -> None:
    pull = Pull(
        name="config",
        base={"gate.toml": "[policy]\nwarn = 12\n[sandbox]\nenabled = false\n"},
        head={"gate.toml": "[policy]\nwarn = 50\n[sandbox]\nenabled = false\n"},
        verdicts=(),
    )
    report = api.check(build(pull, tmp_path), "main", "head")
    assert report.thresholds.warn == 12
    assert report.settings_origin["policy.warn"] == "gate.toml at base"


def test_whole_settings_are_taken_as_they_are(repo: Path) -> None:
    from gate.settings import load

    settings = load(environ={}, flags={"sandbox.enabled": (False, "mine"), "policy.fail": (90, "mine")})
    assert api.check(repo, "main", "head", settings).thresholds.fail == 90


def test_what_is_staged_and_what_is_in_the_work_tree(repo: Path) -> None:
    (repo / "staged.py").write_text("A = 1\n")
    git(repo, "add", "staged.py")
    (repo / "loose.py").write_text("B = 1\n")
    staged = api.check_uncommitted(repo, "staged", OFF)
    both = api.check_uncommitted(repo, settings=OFF)
    assert [f.path for f in staged.change.files] == ["staged.py"]
    assert sorted(f.path for f in both.change.files) == ["loose.py", "staged.py"]


def test_files_outside_git_have_no_settings_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text("[policy]\nwarn = 99\nfail = 99\n")
    (tmp_path / "x.py").write_text("A = 1\n")
    report = api.check_files([tmp_path], OFF)
    assert report.thresholds.warn == 30
    assert {f.path for f in report.change.files} == {"gate.toml", "x.py"}


@pytest.mark.parametrize(
    ("base", "settings", "said"),
    [
        ("nowhere", OFF, "unknown revision"),
        ("main", {"sandbox.nothing": 1}, "unknown key"),
        ("main", {"policy.unrun": "maybe"}, "the caller"),
    ],
)
def test_what_cannot_be_judged_raises_a_usage_error(
    base: str, settings: dict[str, object], said: str, repo: Path
) -> None:
    with pytest.raises(UsageError, match=said) as error:
        api.check(repo, base, "head", settings)
    assert error.value.advice


def test_no_common_ancestor_is_inconclusive(repo: Path) -> None:
    git(repo, "checkout", "-q", "--orphan", "other")
    git(repo, "commit", "-q", "-m", "another root")
    with pytest.raises(InconclusiveError):
        api.check(repo, "main", "other", OFF)


def test_a_report_is_read_back_and_told_in_another_format(repo: Path, tmp_path: Path) -> None:
    report = api.check(repo, "main", "head", OFF)
    file = tmp_path / "report.json"
    file.write_text(api.render(report, "json"))
    again = api.read_report(file)
    assert (again.verdict, again.score.value) == (report.verdict, report.score.value)
    assert api.render(again, "markdown").count("warn")
    with pytest.raises(UsageError, match="no report is called xml") as error:
        api.render(report, "xml")
    assert "sarif" in error.value.advice
    with pytest.raises(UsageError, match="cannot read"):
        api.read_report(tmp_path / "gone.json")
    file.write_text("{}")
    with pytest.raises(UsageError, match="not a version 1 report"):
        api.read_report(file)


def test_a_rule_that_there_is_none_of_is_answered_with_the_nearest() -> None:
    assert "early-exit" in api.explain("early-exit").meta.id
    with pytest.raises(UsageError) as error:
        api.explain("early-exits")
    assert "early-exit" in error.value.advice


def test_the_example_of_the_page_runs_as_it_stands(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (REPOSITORY / "docs" / "api.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    git(repo, "branch", "-q", "feature", "head")
    repo.rename(repo.parent / "shop")
    monkeypatch.chdir(repo.parent)
    monkeypatch.setenv("GATE_SANDBOX_ENABLED", "false")
    names: dict[str, object] = {}
    exec(compile(example, "docs/api.md", "exec"), names)
    out = capsys.readouterr().out
    assert out.startswith("warn ")
    assert "run.py 2" in out
    assert "changed lines ran" in out
    assert "# " in str(names["text"])


def test_the_page_names_every_call_and_the_package_is_marked_as_typed() -> None:
    page = (REPOSITORY / "docs" / "api.md").read_text()
    calls = [name for name in api.__all__ if name[0].islower()]
    assert all(f"`{name}(" in page for name in calls)
    assert (REPOSITORY / "gate" / "py.typed").exists()
