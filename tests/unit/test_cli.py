"""The command line, by calling main(argv)."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from gate import crash_log
from gate.cli import Interrupted, entry, main
from gate.verbs import VERBS
from tests.e2e.pulls import Pull, build, git

DOCS = Pull(name="docs", head={"README.md": "# pricing, again\n"}, verdicts=("pass",))
CODE = Pull(name="code", head={"src/pricing/tax.py": "RATES = {}\n"}, verdicts=("pass",))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return build(DOCS, tmp_path)


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_verb_teaches(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"usage: gate {verb}" in out
    assert max(map(len, out.splitlines())) <= 120


def test_help_lists_verbs_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(verb.name in out for verb in VERBS)
    assert "3 inconclusive" in out


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["check", "--colour"], ["run"]])
def test_wrong_words_end_in_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert "usage:" in capsys.readouterr().err


def test_not_a_repository_and_unknown_revision(
    tmp_path: Path, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["check", "--repo", str(empty), "--base", "a", "--head", "b"]) == 2
    assert main(["check", "--repo", str(repo), "--base", "main", "--head", "nowhere"]) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "nowhere" in err


def test_empty_range_passes_and_says_so(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--repo", str(repo), "--base", "main", "--head", "main", "--color", "never"]) == 0
    out = capsys.readouterr().out
    assert "Passed" in out
    assert "no commits in the range" in out


def test_docs_only_passes_without_a_backend(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    file = tmp_path / "r.json"
    assert (
        main(["check", "--repo", str(repo), "--base", "main", "--head", "head", "-q", "--json", str(file)])
        == 0
    )
    stages = {stage["name"]: stage for stage in json.loads(file.read_text())["stages"]}
    assert stages["sandbox"]["outcome"] == "skipped"


def test_no_backend_is_inconclusive_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = build(CODE, tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
    argv = ["check", "--repo", str(code), "--base", "main", "--head", "head", "--backend", "docker"]
    assert main([*argv, "--color", "never"]) == 3
    out = capsys.readouterr().out
    assert "Inconclusive" in out
    assert "Traceback" not in out


def test_no_sandbox_is_never_a_pass(tmp_path: Path) -> None:
    code, file = build(CODE, tmp_path), tmp_path / "r.json"
    argv = ["check", "--repo", str(code), "--base", "main", "--head", "head", "-q", "--no-sandbox"]
    assert main([*argv, "--json", str(file)]) == 0
    assert json.loads(file.read_text())["verdict"] == "warn"


def test_configuration_of_head_does_not_act(tmp_path: Path) -> None:
    pull = Pull(
        name="loosen",
        head={"gate.toml": "[sandbox]\nenabled = false\n[policy]\nfail = 100\n"},
        verdicts=("warn", "fail"),
    )
    code, file = build(pull, tmp_path), tmp_path / "r.json"
    main(["check", "--repo", str(code), "--base", "main", "--head", "head", "-q", "--json", str(file)])
    report = json.loads(file.read_text())
    assert report["thresholds"]["fail"] == 70
    assert any(finding["path"] == "gate.toml" for finding in report["findings"])


def test_a_report_that_cannot_be_written_is_an_error(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "-q"]
    assert main([*argv, "--json", "/nowhere/at/all/r.json"]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_same_input_same_report_but_times_and_ids(repo: Path, tmp_path: Path) -> None:
    reports = []
    for turn in "ab":
        file = tmp_path / f"{turn}.json"
        main(["check", "--repo", str(repo), "--base", "main", "--head", "head", "-q", "--json", str(file)])
        report = json.loads(file.read_text())
        report["timings"] = {}
        report["made"]["at"] = None
        for stage in report["stages"]:
            stage["seconds"] = 0
        report["stages"].sort(key=lambda stage: stage["name"])
        reports.append(report)
    assert reports[0] == reports[1]


def test_explain_and_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "canary-read"]) == 0
    assert "Why it matters" in capsys.readouterr().out
    assert main(["explain", "canary-reed"]) == 2
    assert "canary-read" in capsys.readouterr().err
    assert main(["explain", "f" * 32]) == 2
    assert "a finding's fingerprint" in capsys.readouterr().err
    assert main(["rules", "--json", "--stage", "behaviour"]) == 0
    assert all(rule["stage"] == "behaviour" for rule in json.loads(capsys.readouterr().out))


def test_attribute_range_and_history(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "x\n\nCo-Authored-By: Claude <noreply@anthropic.com>")
    assert main(["attribute", "--repo", str(repo), "--base", "main", "--head", "head", "--json", "-"]) == 0
    commits = json.loads(capsys.readouterr().out)["commits"]
    assert [commit["attribution"]["is_ai"] for commit in commits] == [False, True]
    assert main(["attribute", "--repo", str(repo), "--history"]) == 0
    assert "claude" in capsys.readouterr().out
    assert main(["attribute"]) == 2


def test_completion_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    assert "gate" in capsys.readouterr().out


def test_colour_only_when_asked(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["check", "--repo", str(repo), "--base", "main", "--head", "head"]
    main(argv)
    assert "\x1b[" not in capsys.readouterr().out
    main([*argv, "--color", "always"])
    assert "\x1b[" in capsys.readouterr().out


def test_event_payload_names_the_range(repo: Path, tmp_path: Path) -> None:
    base, head = git(repo, "rev-parse", "main"), git(repo, "rev-parse", "head")
    event, file = tmp_path / "event.json", tmp_path / "r.json"
    event.write_text(json.dumps({"before": base, "after": head, "ref": "refs/heads/topic"}))
    argv = ["check", "--repo", str(repo), "--event", str(event), "-q", "--json", str(file)]
    assert main(argv) == 0
    assert json.loads(file.read_text())["head"] == head


def test_a_bug_while_the_verbs_load_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise NameError("verb")

    monkeypatch.setattr("gate.verbs.parser.build_parser", broken)
    assert main(["check"]) == 4
    assert "bug in gate" in capsys.readouterr().err


@pytest.mark.parametrize("stop", [KeyboardInterrupt, Interrupted])
def test_an_interrupt_ends_in_its_own_code(
    stop: type[BaseException], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise stop

    stopped = threading.Event()  # the process's own would end every command of the tests after this one
    monkeypatch.setattr("gate.process._STOP", stopped)
    monkeypatch.setattr("gate.verbs.parser.build_parser", interrupted)
    assert main(["check"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert stopped.is_set()


@pytest.mark.parametrize(
    ("number", "stop"), [(signal.SIGTERM, Interrupted), (signal.SIGINT, KeyboardInterrupt)]
)
def test_after_a_signal_no_other_one_ends_the_clean_up(
    number: signal.Signals, stop: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers: dict[int, Any] = {}
    monkeypatch.setattr("gate.cli.main", lambda: 130)
    monkeypatch.setattr("gate.cli.signal.getsignal", lambda _: signal.default_int_handler)
    monkeypatch.setattr("gate.cli.signal.signal", handlers.__setitem__)
    with pytest.raises(SystemExit, match="130"):
        entry()
    with pytest.raises(stop):
        handlers[number](number, None)
    assert handlers[signal.SIGTERM] is signal.SIG_IGN


def test_an_error_of_the_machine_that_is_no_lack_of_room_is_a_bug_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gate.verbs.parser.build_parser", broken)
    assert main(["check"]) == 4
    assert "bug in gate" in capsys.readouterr().err


def test_the_log_of_a_bug_that_cannot_be_written_raises_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert crash_log.write_log(ValueError("x")) == crash_log.NOWHERE


def test_the_language_server_takes_what_editors_add(monkeypatch: pytest.MonkeyPatch) -> None:
    """As VS Code's client library appends it: found in a real VS Code, and nowhere else."""
    pytest.importorskip("pygls", reason="the extra lsp is not installed")
    from pygls.lsp.server import LanguageServer

    started = []
    monkeypatch.setattr(LanguageServer, "start_io", lambda *_: started.append(True))
    assert main(["lsp", "--stdio"]) == 0
    assert started
