"""What the command line promises: the range that is meant, exit codes, where output goes, what errors say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gate.change.uncommitted import open_uncommitted
from gate.cli import main
from gate.errors import UsageError
from gate.sandbox.backends.registry import BACKENDS, SCRIPTED
from gate.settings import BACKENDS as NAMES
from gate.settings import load
from gate.verbs.common import FORMATS
from tests.e2e.pulls import Pull, build, git

DOCS = Pull(name="docs", head={"README.md": "# pricing, again\n"}, verdicts=("pass",))
SHELL = "import os\nos.system('id')\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """On branch ``head``, one commit of documentation ahead of ``main``."""
    made = build(DOCS, tmp_path)
    git(made, "checkout", "-q", "head")
    return made


def _json(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return dict(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("argv", [["--backend", "foo"], []])
def test_a_backend_that_is_none_ends_in_2_and_lists_them(
    argv: list[str], repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not argv:
        monkeypatch.setenv("GATE_SANDBOX_BACKEND", "foo")
    assert main(["check", "--repo", str(repo), *argv]) == 2
    err = capsys.readouterr().err
    assert all(name in err for name in ("auto", *BACKENDS, *SCRIPTED))
    assert (argv[0] if argv else "GATE_SANDBOX_BACKEND") in err


def test_the_settings_know_every_backend() -> None:
    assert set(NAMES) == {"auto", *BACKENDS, *SCRIPTED}


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('[sandbox]\nminimum = "castle"\n', "user-kernel"),
        ('[sandbox]\nnetwork = "all"\n', "sinkhole"),
        ('[override]\nrole = "king"\n', "maintain"),
        ("[sandbox]\nbackened = 1\n", "backend"),
        ("[sandboxes]\n", "sandbox"),
        ("[policy]\nwarn = 0\n", "whole numbers 1 or more, 100 or less"),
        ('[sandbox]\ndeadline = "long"\n', "numbers more than 0, 3600 or less"),
        ('[sandbox]\ndeep = "yes"\n', "true, false"),
    ],
)
def test_bad_words_in_a_file_are_answered_with_the_good_ones(tmp_path: Path, text: str, valid: str) -> None:
    file = tmp_path / "gate.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        load(file=file, environ={})
    assert valid in error.value.advice
    assert "gate.toml" in error.value.message


def test_without_a_range_it_is_the_branch_against_the_default_one(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--repo", str(repo), "--json", "-"]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (report["base"], report["head"]) == (
        git(repo, "rev-parse", "main"),
        git(repo, "rev-parse", "head"),
    )
    assert "main" in err
    assert "uncommitted" not in err


def test_the_remotes_default_branch_comes_first(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repo, "update-ref", "refs/remotes/origin/trunk", "main")
    git(repo, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    git(repo, "branch", "-q", "-f", "main", "head")
    assert main(["check", "--repo", str(repo)]) == 0
    assert "origin/trunk" in capsys.readouterr().err


def test_on_the_default_branch_it_says_what_to_give(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repo, "checkout", "-q", "main")
    assert main(["check", "--repo", str(repo)]) == 2
    assert "--worktree" in capsys.readouterr().err
    git(repo, "branch", "-q", "-m", "main", "strange")
    assert main(["check", "--repo", str(repo)]) == 2
    assert "--base" in capsys.readouterr().err


def test_uncommitted_files_are_mentioned_and_not_judged(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "loose.py").write_text(SHELL)
    (repo / "README.md").write_text("# other\n")
    git(repo, "add", "README.md")
    assert main(["check", "--repo", str(repo), "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert [file["path"] for file in json.loads(out)["files"]] == ["README.md"]
    assert "2 uncommitted files" in err
    assert "--worktree" in err


def test_staged_and_worktree_judge_what_is_not_committed(repo: Path) -> None:
    git(repo, "checkout", "-q", "main")
    before = git(repo, "count-objects")
    (repo / ".gitignore").write_text("*.log\n")
    (repo / "a.log").write_text("ignored\n")
    (repo / "new.py").write_text(SHELL)
    (repo / "src/pricing/tax.py").unlink()
    (repo / "README.md").write_bytes(b"# staged\n")
    git(repo, "add", "README.md")
    (repo / "README.md").write_bytes(b"# loose\n")
    (repo / "link").symlink_to("/etc/hostname")
    (repo / "tests/test_cart.py").chmod(0o755)
    index = (repo / ".git/index").read_bytes()
    with open_uncommitted(repo, "staged") as staged:
        assert [file.path for file in staged.change.files] == ["README.md"]
        assert staged.head.read("README.md") == b"# staged\n"
    with open_uncommitted(repo, "worktree") as loose:
        told = {file.path: file.status for file in loose.change.files}
        assert told == {
            ".gitignore": "added",
            "README.md": "modified",
            "link": "added",
            "new.py": "added",
            "src/pricing/tax.py": "deleted",
            "tests/test_cart.py": "modified",
        }
        assert loose.head.read("README.md") == b"# loose\n"
        assert loose.head.read("link") == b"/etc/hostname"
        assert b"".join(loose.head.archive()).count(b"os.system") == 1
        assert loose.change.base == git(repo, "rev-parse", "HEAD")
    assert (repo / ".git/index").read_bytes() == index
    assert git(repo, "count-objects").split()[0] == str(int(before.split()[0]) + 1)  # by `git add` above


def test_a_work_tree_is_listed_and_nothing_in_it_acts(repo: Path, tmp_path: Path) -> None:
    """Filters, file system monitors and nested repositories of a hostile work tree start nothing."""
    mark = tmp_path / "acted"
    nested = repo / "nested"
    subprocess.run(["git", "init", "-q", nested], check=True)
    for folder in (repo, nested):
        git(folder, "config", "core.fsmonitor", f"touch {mark}; false")
        git(folder, "config", "filter.x.clean", f"touch {mark}; cat")
        git(folder, "config", "diff.external", f"touch {mark}")
    (repo / ".gitattributes").write_text("* filter=x\n")
    (repo / "new.py").write_text(SHELL)
    (repo / "out").symlink_to("/etc")
    mark.unlink(missing_ok=True)
    with open_uncommitted(repo, "worktree") as loose:
        assert {file.path for file in loose.change.files} == {".gitattributes", "new.py", "out"}
        list(loose.head.archive())
    assert not mark.exists()


def test_a_linked_work_tree_has_its_own_files(repo: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "-q", str(linked), "main")
    (linked / "new.py").write_text(SHELL)
    with open_uncommitted(linked, "worktree") as loose:
        assert [file.path for file in loose.change.files] == ["new.py"]


@pytest.mark.parametrize("part", ["--staged", "--worktree"])
def test_nothing_uncommitted_is_wrong_usage(
    part: str, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--repo", str(repo), part]) == 2
    assert "nothing is" in capsys.readouterr().err
    assert main(["check", "--repo", str(repo), part, "--base", "main"]) == 2
    assert "different changes" in capsys.readouterr().err


def test_the_work_tree_as_the_change_on_the_command_line(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "README.md").write_text("# loose\n")
    assert main(["check", "--repo", str(repo), "--worktree", "--json", "-"]) == 0
    report = _json(capsys)
    assert report["head"] is None
    assert report["verdict"] == "pass"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_dash_writes_to_stdout_and_nothing_else_does(
    name: str, repo: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "whole"
    argv = ["check", "--repo", str(repo), "--base", "main", "--head", "head"]
    assert main([*argv, f"--{name}", "-"]) == 0
    out, err = capsys.readouterr()
    assert not Path("-").exists()
    if name in ("json", "sarif"):
        json.loads(out)
    assert "Passed" in err
    assert main([*argv, f"--{name}", str(file), "-q"]) == 0
    assert out[:40] == file.read_text()[:40]
    assert capsys.readouterr() == ("", "")


def test_two_reports_cannot_share_stdout(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--repo", str(repo), "--json", "-", "--sarif", "-"]) == 2
    assert "only one" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["gone/r.json", "folder", "/dev/full"])
def test_a_report_that_cannot_be_written_is_2_with_one_line(
    where: str, repo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    assert main(["check", "--repo", str(repo), "-q", "--json", str(tmp_path / where)]) == 2
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 2
    assert err[0].startswith("gate: cannot write ")
    assert err[1].startswith("      Give a path")
    assert not list(tmp_path.rglob(".gate-*"))


@pytest.mark.parametrize(
    "words", [["check", "--json", "-"], ["check"], ["attribute", "--base", "main", "--json", "-"]]
)
def test_a_full_disk_behind_stdout_is_2(words: list[str], repo: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [Path(sys.executable).parent / "gate", *words, "--repo", repo],
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2, done.stderr
    assert b"No space left" in done.stderr
    assert b"bug in gate" not in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_no_room_for_temporary_files_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(28, os.strerror(28), "/tmp/gate-x")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    monkeypatch.setattr("tempfile.mkstemp", full)
    assert main(["run", str(repo / "README.md")]) == 2
    err = capsys.readouterr().err
    assert "No space left" in err
    assert "TMPDIR" in err


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["--base", "main", "--head", "nowhere"], 2),
        (["--base", "..", "--head", "head"], 2),
        (["--staged"], 2),
        (["--base", "main", "--backend", "foo"], 2),
    ],
)
def test_an_unusable_range_is_in_the_report_too(
    argv: list[str], code: int, repo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "r.json"
    assert main(["check", "--repo", str(repo), *argv, "--json", str(file)]) == code
    err = capsys.readouterr().err
    report = json.loads(file.read_text())
    assert report["verdict"] == "inconclusive"
    [stage] = report["stages"]
    assert stage["outcome"] == "failed"
    assert err.splitlines()[-2].removeprefix("gate: ") in stage["reason"]
    assert stage["reason"] in report["reasons"][0]


def test_the_verdict_stands_last(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--repo", str(repo), "--color", "never"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("✓ Passed, score 0 of 100: ")


def test_quiet_still_says_a_verdict_that_blocks(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["check", "--repo", str(repo), "--base", "main", "-q"]
    assert main([*argv, "--head", "head"]) == 0
    assert capsys.readouterr() == ("", "")
    (repo / "tool.py").write_text(SHELL + "import socket\n")
    (repo / "gate.toml").write_text("[policy]\nwarn = 1\nfail = 2\n")
    git(repo, "checkout", "-q", "-b", "strict", "main")
    git(repo, "add", "gate.toml")
    git(repo, "commit", "-q", "-m", "strict")
    git(repo, "checkout", "-q", "-b", "bad")
    git(repo, "add", "tool.py")
    git(repo, "commit", "-q", "-m", "tool")
    argv = ["check", "--repo", str(repo), "--base", "strict", "--head", "bad", "-q", "--no-sandbox"]
    assert main(argv) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("gate: Blocked, score ")
    assert "tool.py" in err


def test_help_teaches_the_obvious_range(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--help"]) == 0
    out = capsys.readouterr().out
    for word in ("--staged", "--worktree", "default branch", "--json -", *BACKENDS):
        assert word in out


def test_a_bundle_beside_the_work_tree_is_no_part_of_the_change(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "new.md").write_text("# new\n")
    monkeypatch.chdir(repo)
    words = ["check", "--worktree", "--no-sandbox", "--bundle", "evidence.zip", "--json", "-"]
    assert main(words) == 0
    assert [file["path"] for file in json.loads(capsys.readouterr().out)["files"]] == ["new.md"]
    assert (repo / "evidence.zip").is_file()
