"""The bench over merged commits: what is sampled, what is counted, and that it can be gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import real_commits
from tests.e2e.pulls import Pull, build, git

DOCS = Pull(name="docs", head={"README.md": "# pricing, again\n"}, verdicts=("pass",))
PROJECT = "someone/pricing"


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    """A folder with one bare clone: three commits of documentation, the last one merged."""
    repo = build(DOCS, tmp_path)
    git(repo, "checkout", "-q", "head")
    git(repo, "commit", "-q", "--allow-empty", "-m", "nothing")
    git(repo, "checkout", "-q", "-b", "trunk", "main")
    git(repo, "commit", "-q", "--allow-empty", "-m", "beside")
    git(repo, "merge", "-q", "--no-ff", "-m", "merged", "head")
    folder = tmp_path / "clones" / "someone+pricing"
    folder.mkdir(parents=True)
    git(repo, "clone", "-q", "--bare", str(repo), str(folder / "repo"))
    return folder.parent


def test_there_are_twelve_projects_of_every_kind_at_least() -> None:
    assert len(set(real_commits.projects())) >= 12
    assert set(real_commits.PROJECTS) == {"library", "application", "javascript", "go"}


def test_the_sample_is_the_same_each_time_and_a_larger_one_begins_with_it(clones: Path) -> None:
    repo = real_commits.repository(clones, PROJECT)
    assert repo is not None
    both = real_commits.sample(repo, PROJECT, 9)
    assert len(both) == 2  # the merge and the commit beside; what was merged counts as the merge's
    assert real_commits.sample(repo, PROJECT, 1) == both[:1]
    assert real_commits.repository(clones, "someone/else") is None


def test_a_run_is_gone_on_with_and_prints_its_figures(
    clones: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = tmp_path / "done.jsonl"
    argv = [str(clones), "--only", PROJECT, "--only", "someone/else", "--done", str(done)]
    assert real_commits.main([*argv, "--commits", "1", "--load", "1"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["total"]["verdicts"] == {"pass": 1}
    assert first["not_there"] == ["someone/else"]
    assert first["load"] == 1
    before = done.read_text()
    assert real_commits.main([*argv, "--commits", "2"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["total"]["commits"] == 2
    assert second["projects"][PROJECT]["seconds_p90"] > 0
    assert done.read_text().startswith(before)
    assert len(done.read_text().splitlines()) == 2
    assert real_commits.main([*argv, "--commits", "2", "--stop-after", "0"]) == 0


def test_a_commit_past_its_deadline_has_no_verdict(clones: Path) -> None:
    repo = real_commits.repository(clones, PROJECT)
    assert repo is not None
    [commit] = real_commits.sample(repo, PROJECT, 1)
    each = real_commits.judged(repo, PROJECT, commit, 0.05)
    assert each["verdict"] == "no verdict"
    assert real_commits.missed([each]) == ["no verdict: 100.0 % (goal: 0 %)"]


def _each(verdict: str, lines: dict[str, int] | None = None) -> dict[str, Any]:
    return {"project": PROJECT, "verdict": verdict, "seconds": 1.0, "lines": lines}


def test_goals() -> None:
    passed = [_each("pass")] * 97
    assert real_commits.missed([*passed, *[_each("warn")] * 3]) == []
    assert real_commits.missed([*passed, *[_each("warn")] * 4]) == ["warn: 4.0 % (goal: 3 %)"]
    assert real_commits.missed([*passed, _each("fail")]) == ["fail: 1.0 % (goal: 0 %)"]
    assert real_commits.missed([*passed, _each("inconclusive")]) == ["inconclusive: 1.0 % (goal: 0.5 %)"]
    assert real_commits.missed([]) == ["no commit was judged"]


def _file(path: str, ran: int, executable: int, reason: str = "not-reached") -> dict[str, Any]:
    unrun = [{"lines": [[1, 1]], "reason": reason, "detail": ""}] if ran < executable else []
    return {"path": path, "ran": ran, "executable": executable, "unrun": unrun}


def test_lines_are_told_by_kind_of_project_and_outside_of_tests() -> None:
    files = [
        _file("app/a.py", 6, 10),
        _file("tests/test_a.py", 10, 10),
        _file("a.go", 0, 9, "language-not-run"),
    ]
    parts = real_commits.parts_run({"exercised": {"files": files}})
    assert parts == {"all": {"ran": 16, "lines": 20}, "outside_tests": {"ran": 6, "lines": 10}}
    one, other = real_commits.PROJECTS["application"][:2]
    done = [_each("pass") | {"project": one, "parts": parts}, _each("pass") | {"project": other}]
    done += [_each("pass") | {"project": other, "parts": {"all": {"ran": 5, "lines": 5}}}]
    done[2]["parts"]["outside_tests"] = {"ran": 5, "lines": 5}
    told = real_commits.kinds(done)
    assert told["application"]["percent_run"] == {"all": 84.0, "outside_tests": 73.3}
    assert told["application"]["mean_over_projects"] == 90.0
    assert told["library"]["percent_run"]["all"] is None
    assert real_commits.missed(done) == [
        "application, lines run, all: 84.0 % (goal: 90 %)",
        "application, lines run, outside tests: 73.3 % (goal: 85 %)",
    ]
    assert real_commits.parts_run({}) == real_commits.parts_run({"exercised": None})


def test_lines_that_ran_are_read_leniently() -> None:
    assert real_commits.lines_run({"exercised": {"ran": 3, "executable": 4}}) == {"ran": 3, "lines": 4}
    others: tuple[dict[str, Any], ...] = (
        {},
        {"exercised": None},
        {"exercised": []},
        {"exercised": {"ran": "3", "executable": 4}},
    )
    for other in others:
        assert real_commits.lines_run(other) is None
    told = real_commits.figures([_each("pass", {"ran": 3, "lines": 4}), _each("pass")])
    assert told["percent_of_lines_run"] == 75.0
