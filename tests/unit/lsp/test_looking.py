"""What is told about one open file: the editor's text against HEAD's, read without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate import api
from gate.change.uncommitted import open_buffer
from gate.errors import NothingToJudgeError
from gate.lsp import looking
from gate.lsp.looking import read_file, run_file
from gate.model.rule import Severity
from tests.e2e.pulls import Pull, build, git

SHELL = "import os\n\n\ndef run() -> None:\n    os.system('id')\n"
PLAIN = api.Chosen()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    pull = Pull(
        name="lsp",
        base={"old.py": SHELL, "gate.toml": '[prescreen]\nallowed_imports = ["frobnicate"]\n'},
        head={"README.md": "# prices\n"},
        verdicts=(),
    )
    return build(pull, tmp_path)


def test_it_is_the_editors_text_against_heads(repo: Path) -> None:
    text = f"{SHELL}\n\ndef more() -> None:\n    os.system('whoami')\n"
    remarks = read_file(repo / "old.py", text, PLAIN)
    assert {remark.line for remark in remarks} == {9}  # what HEAD has is no news
    assert (repo / "old.py").read_text() == SHELL
    assert all(remark.rule and remark.severity for remark in remarks)


def test_a_file_as_at_head_says_nothing(repo: Path) -> None:
    assert read_file(repo / "old.py", SHELL, PLAIN) == ()
    assert run_file(repo / "old.py", SHELL, PLAIN).said.startswith("the file is as at HEAD")
    with pytest.raises(NothingToJudgeError):
        open_buffer(repo / "old.py", SHELL.encode())


def test_a_new_file_and_one_that_is_ignored_are_new_as_a_whole(repo: Path) -> None:
    (repo / ".gitignore").write_text("secret/\n")
    (repo / "secret").mkdir()
    for name in ("new.py", "secret/new.py"):
        assert 5 in {remark.line for remark in read_file(repo / name, SHELL, PLAIN)}


def test_other_files_are_as_in_the_work_tree_on_both_sides(repo: Path) -> None:
    (repo / "helper.py").write_text("VALUE = 1\n")
    (repo / "old.py").write_text("# saved\n")
    with open_buffer(repo / "old.py", b"import helper\n") as opened:
        assert [file.path for file in opened.change.files] == ["old.py"]
        assert opened.base.read("helper.py") == opened.head.read("helper.py") == b"VALUE = 1\n"
        assert opened.base.read("old.py") == SHELL.encode()
        assert opened.head.read("old.py") == b"import helper\n"
        with pytest.raises(KeyError):
            opened.config.read("helper.py")
    assert git(repo, "status", "--porcelain").splitlines() == ["M old.py", "?? helper.py"]


def test_outside_of_a_repository_everything_is_new(tmp_path: Path) -> None:
    assert {remark.line for remark in read_file(tmp_path / "loose.py", SHELL, PLAIN)} >= {5}


def test_nothing_is_said_of_what_did_not_run(repo: Path) -> None:
    remarks = read_file(repo / "new.py", SHELL, PLAIN)
    assert not [remark for remark in remarks if remark.rule.startswith("unrun")]


def test_a_rule_of_gate_has_its_page_and_hidden_characters_are_shown(repo: Path) -> None:
    remarks = read_file(repo / "new.py", "x = 1  # \u202e evil\n", PLAIN)
    (told,) = [remark for remark in remarks if remark.page]
    assert told.severity in set(Severity)
    assert told.page.endswith(f"/{told.rule}.md")
    assert all("\u202e" not in remark.message for remark in remarks)


def test_a_huge_file_is_left_alone(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LARGEST", 10)
    assert read_file(repo / "new.py", SHELL, PLAIN) == ()


def test_running_without_a_sandbox_says_so(repo: Path) -> None:
    off = api.Chosen(flags={"sandbox.enabled": (False, "--no-sandbox")})
    ran = run_file(repo / "new.py", SHELL, off)
    assert not [remark for remark in ran.remarks if "seen in the sandbox" in remark.message]
    assert [remark for remark in ran.remarks if remark.rule == "unrun-sensitive"]
