"""Whole checks that are told again: the same report, only for the very same change, and only whole ones."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gate import api, kept_check
from gate.cache.store import Store, entries, kept_folder
from gate.change.event import Event
from gate.cli import main
from gate.languages import limited_child
from gate.model.change import PullRequest
from gate.model.report import Report
from gate.model.score import Verdict
from gate.model.stage import SkipReason, Stage, StageOutcome
from gate.policy.override import FILE
from gate.prescreen.scanners import semgrep
from gate.settings import load
from tests.e2e.pulls import Pull, build, git

SHELL = Pull(name="shop", head={"run.py": "import os\nos.system('id')\n", "b.py": "B = 1\n"}, verdicts=())
OFF = {"sandbox.enabled": False}
FROM_FORK = PullRequest(
    number=7, title="t", body="", labels=(), author="a", branch="head", base_branch="main", base_sha="",
    head_sha="", from_fork=True,
)  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return build(SHELL, tmp_path)


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_CACHE_ENABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("GATE_CACHE", "GATE_CACHE_KEY", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)


class Heard:
    """Counts the stages of a check: none where it is told again."""

    def __init__(self) -> None:
        self.stages = 0

    def started(self, name: str) -> None:
        self.stages += 1

    def note(self, name: str, text: str) -> None: ...

    def ended(self, stage: Stage) -> None: ...


def looked(repo: Path, settings: dict[str, object] | None = None, request: PullRequest | None = None) -> bool:
    """Was anything looked at, or only told again?"""
    heard = Heard()
    event = Event(base="main", head="head", branch=None, pull_request=request)
    api.check(repo, "main", "head", OFF if settings is None else settings, heard, event=event)
    return heard.stages > 0


def test_the_same_change_again_is_the_same_report_and_nothing_is_looked_at(repo: Path) -> None:
    first = api.check(repo, "main", "head", OFF)
    heard = Heard()
    second = api.check(repo, "main", "head", OFF, heard)
    assert heard.stages == 0
    assert second == replace(first, sandbox=second.sandbox)
    for style in ("json", "markdown", "sarif", "html", "terminal"):
        assert api.render(second, style) == api.render(first, style)


def test_a_copy_elsewhere_is_told_by_its_own_path(repo: Path, tmp_path: Path) -> None:
    api.check(repo, "main", "head", OFF)
    git(repo, "clone", "-q", "--mirror", ".", str(tmp_path / "copy"))
    heard = Heard()
    report = api.check(tmp_path / "copy", "main", "head", OFF, heard)
    assert heard.stages == 0
    assert report.change.repo == str(tmp_path / "copy")


@pytest.mark.parametrize(
    "other",
    [
        {"policy.warn": 12},
        {"sandbox.fast": True},
        {"prescreen.allowed_imports": ["os"]},
    ],
    ids=str,
)
def test_other_settings_are_another_check(repo: Path, other: dict[str, object]) -> None:
    assert looked(repo)
    assert looked(repo, {**OFF, **other})
    assert not looked(repo)


def test_another_commit_is_another_check(repo: Path) -> None:
    assert looked(repo)
    git(repo, "checkout", "-q", "head")
    git(
        repo,
        "commit",
        "-q",
        "--amend",
        "-m",
        "Another message\n\nCo-Authored-By: Claude <noreply@anthropic.com>",
    )
    assert looked(repo)


def test_what_surrounds_it_counts(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked(repo)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    assert looked(repo)
    monkeypatch.setattr(kept_check, "_distributions", lambda: ["semgrep-9.dist-info"])
    assert looked(repo)


def test_a_plugin_s_files_count_not_its_version_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "site-packages" / "gate_house_rules-1.0.dist-info"
    place.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    before = kept_check._distributions()
    (place / "entry_points.txt").write_text("[gate.rules]\nhouse = house_rules\n")
    seen = [before]
    for digest in ("a", "b"):
        (place / "RECORD").write_text(f"house_rules.py,sha256={digest},1\n")
        seen.append(kept_check._distributions())
    assert len({tuple(each) for each in seen}) == 3


def test_a_fork_s_check_is_none_of_anybody_else(repo: Path) -> None:
    own = replace(FROM_FORK, from_fork=False)
    assert looked(repo, request=FROM_FORK)
    assert not looked(repo, request=FROM_FORK)
    assert looked(repo, request=own)
    assert looked(repo)


def test_overrides_depend_on_the_day_and_keep_nothing(tmp_path: Path) -> None:
    text = f'''[[override]]
fingerprint = "{"a" * 32}"
reason = "a price list that is checked by hand"
owner = "me"
expires = 2099-01-01
'''
    repo = build(replace(SHELL, base={FILE: text}), tmp_path)
    assert looked(repo)
    assert looked(repo)


def test_no_cache_neither_reads_nor_writes(repo: Path) -> None:
    assert looked(repo, {**OFF, "cache.enabled": False})
    folder = kept_folder()
    assert folder is not None
    assert entries(folder) == []
    assert looked(repo)
    assert looked(repo, {**OFF, "cache.enabled": False})


def test_evidence_is_of_a_look_of_its_own(repo: Path, tmp_path: Path) -> None:
    words = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "--no-sandbox", "-q"]
    assert main(words) == 0
    assert main([*words, "--bundle", str(tmp_path / "bundle.zip")]) == 0
    assert (tmp_path / "bundle.zip").stat().st_size > 1000


def test_a_poisoned_entry_is_looked_at_anew(repo: Path) -> None:
    """The best that somebody with the program and without the key can do: a whole report that passes."""
    first = api.check(repo, "main", "head", OFF)
    folder = kept_folder()
    assert folder is not None
    (path,) = [path for path, _ in entries(folder) if path.name.startswith("check-")]
    forged = Store(folder, b"no key of ours" * 3)
    forged.put("check", b"x", json.dumps({"verdict": "pass"}).encode())
    written = next(each for each, _ in entries(folder) if each != path and each.name.startswith("check-"))
    written.replace(path)
    heard = Heard()
    assert api.check(repo, "main", "head", OFF, heard).verdict is first.verdict
    assert heard.stages > 0


@pytest.fixture
def report(repo: Path) -> Report:
    return api.check(repo, "main", "head", {**OFF, "cache.enabled": False})


def test_only_a_whole_look_is_kept(report: Report) -> None:
    assert kept_check.is_whole(report)
    assert not kept_check.is_whole(replace(report, verdict=Verdict.INCONCLUSIVE))
    for outcome in (StageOutcome.DEGRADED, StageOutcome.FAILED):
        lost = Stage(name="sandbox", outcome=outcome, reason="r")
        assert not kept_check.is_whole(replace(report, stages=(*report.stages, lost)))
    gone = SkipReason.BACKEND_FAILED
    lost = Stage(name="setup", outcome=StageOutcome.SKIPPED, reason="r", skip_reason=gone)
    assert not kept_check.is_whole(replace(report, stages=(*report.stages, lost)))


def test_a_push_that_changes_one_file_reads_only_that_one(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked(repo)
    (repo / "b.py").write_text("B = 2\n")
    git(repo, "checkout", "-q", "head")
    (repo / "b.py").write_text("B = 2\n")
    git(repo, "commit", "-q", "-a", "-m", "Another value")
    read: list[str] = []
    engine: list[str] = []
    child, core = limited_child._Scan.one_child, semgrep._looked

    def one_child(self: limited_child._Scan, *words: object) -> int:
        read.extend(self.files[n][0] for n in self.order)
        return child(self, *words)  # type: ignore[arg-type]

    def by_core(targets: list[semgrep.ScanTarget], *words: object) -> semgrep.Matches:
        engine.extend(target.project_path for target in targets)
        return core(targets, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(limited_child._Scan, "one_child", one_child)
    monkeypatch.setattr(semgrep, "_looked", by_core)
    assert looked(repo)
    assert "b.py" in {Path(path).name for path in read} | {Path(path).name for path in engine}
    assert "run.py" not in {Path(path).name for path in (*read, *engine)}


def test_that_the_engine_works_is_kept_for_this_very_file(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    probe = semgrep._finds_what_it_must

    def finds(core: Path) -> bool:
        asked.append(core)
        return probe(core)

    monkeypatch.setattr(semgrep, "_finds_what_it_must", finds)
    for policy in (12, 13):
        semgrep.works.cache_clear()
        looked(repo, {**OFF, "policy.warn": policy})
        git(repo, "checkout", "-q", "head")
        (repo / "b.py").write_text(f"B = {policy}\n")
        git(repo, "commit", "-q", "-a", "-m", "Another value")
    assert len(asked) == 1


def test_what_is_kept_is_told_and_removed(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    looked(repo)
    assert main(["cache", "info"]) == 0
    told = capsys.readouterr().out
    assert "whole checks" in told
    assert "files read" in told
    assert main(["cache", "clear"]) == 0
    assert looked(repo)


def test_a_report_that_is_told_again_says_so(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "--no-sandbox"]
    main(words)
    assert "told again" not in capsys.readouterr().err
    later = time.time() + 60
    monkeypatch.setattr("time.time", lambda: later)
    main(words)
    assert "told again" in capsys.readouterr().err
    main([*words, "--no-cache"])
    assert "told again" not in capsys.readouterr().err


def test_a_job_keeps_runs_only_with_a_key_of_its_step_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that lies on the runner is read by every job; and what a fork left is nobody else's."""
    own = replace(FROM_FORK, from_fork=False)
    assert kept_check.job_store(load(), own) is None
    monkeypatch.setenv("GATE_CACHE_KEY", "k" * 8)
    assert kept_check.job_store(load(), own) is None, "too short"
    monkeypatch.setenv("GATE_CACHE_KEY", "k" * 32)
    for request, found in ((own, b"a run"), (FROM_FORK, None)):
        store = kept_check.job_store(load(), request)
        assert store is not None
        if request is own:
            store.put("run", b"name", b"a run")
        kept = store.get("run", b"name")
        assert kept == found
