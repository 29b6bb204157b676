"""Where a repository lies: the quick way says what GitPython says, or nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import git
import pytest

from gate.change.git_command import GitRepository, _locate, _plain
from tests.e2e.pulls import git as run_git
from tests.paths import REPOSITORY as ROOT

WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@shop.example")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "deep/er").mkdir(parents=True)
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, *WHO, "commit", "-qm", "One", "--allow-empty")
    return folder


def told(path: Path) -> tuple[Path, Path]:
    with git.Repo(path.absolute(), search_parent_directories=True, expand_vars=False) as found:
        return Path(found.git_dir).absolute(), Path(found.common_dir).absolute()


@pytest.mark.parametrize("below", ["", "deep", "deep/er", "deep/../deep"])
def test_an_ordinary_work_tree_is_found_at_once(repo: Path, below: str) -> None:
    assert _plain(repo / below) == repo / ".git"
    assert _locate(repo / below) == told(repo / below)


def test_a_head_that_names_a_commit(repo: Path) -> None:
    run_git(repo, "checkout", "-q", "--detach")
    assert _plain(repo) == repo / ".git"


@pytest.mark.parametrize("kind", ["bare", "linked", "gitfile", "link"])
def test_what_is_not_ordinary_is_left_to_gitpython(repo: Path, tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    if kind == "bare":
        run_git(tmp_path, "clone", "-q", "--bare", str(repo), str(other))
    elif kind == "linked":
        run_git(repo, "worktree", "add", "-q", str(other), "-b", "side")
    elif kind == "gitfile":
        run_git(
            tmp_path, "clone", "-q", f"--separate-git-dir={tmp_path / 'elsewhere'}", str(repo), str(other)
        )
    else:
        other.mkdir()
        (other / ".git").symlink_to(repo / ".git")
        assert _locate(other) == told(other)
        return
    assert _plain(other) is None
    assert _locate(other) == told(other)
    GitRepository(other).close()


@pytest.mark.parametrize("broken", ["HEAD", "objects", "refs", "words"])
def test_a_broken_one_is_not_taken(repo: Path, broken: str) -> None:
    if broken == "words":
        (repo / ".git/HEAD").write_text("nothing of git's\n")
    else:
        (repo / ".git" / broken).rename(repo / "aside")
    assert _plain(repo / "deep") is None


def test_variables_that_move_the_store_are_left_to_gitpython(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMON_DIR", str(repo / ".git"))
    assert _plain(repo) is None


def test_an_ordinary_repository_is_opened_without_gitpython(repo: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from gate.change.git_command import GitRepository; "
        "GitRepository(Path(sys.argv[1])).close(); print('git' in sys.modules)"
    )
    words = [sys.executable, "-c", program, str(repo)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
