"""The search for a repository, beside git's own."""

import os
import subprocess
from pathlib import Path

import pytest

from gate.change.git_location import locate


def git(folder: Path, *words: str) -> str:
    """git there, with nobody's configuration."""
    run = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@a.invalid", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    return run.stdout.strip()


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One commit, a folder, a linked work tree, a bare clone, a clone with its git directory elsewhere."""
    top = tmp_path_factory.mktemp("located")
    made = top / "repo"
    (made / "a/b").mkdir(parents=True)
    (made / "a/b/c.txt").write_text("c\n")
    git(made, "init", "-q", "-b", "main")
    git(made, "add", ".")
    git(made, "commit", "-qm", "first")
    git(made, "worktree", "add", "-q", "../linked")
    git(made, "clone", "-q", "--bare", ".", "../bare.git")
    git(made, "clone", "-q", "--separate-git-dir", "../elsewhere", ".", "../apart")
    return made


@pytest.mark.parametrize(
    "where",
    [
        *("repo", "repo/a/b", "repo/.git", "repo/.git/refs", "repo/a/../a", "linked", "linked/a/b"),
        *("bare.git", "bare.git/refs", "apart", "elsewhere", "repo/.git/worktrees/linked"),
    ],
)
def test_as_git(repo: Path, where: str) -> None:
    path = repo.parent / where
    told = git(path, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir").splitlines()
    found = locate(path)
    assert found is not None
    assert [os.path.realpath(found.git_dir), os.path.realpath(found.common_dir)] == told
    assert found.git_dir.is_absolute()


def test_relative(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo / "a")
    found = locate(Path())
    assert found is not None
    assert found.git_dir == repo / ".git"


def test_the_environment_of_a_hook_has_no_say(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(repo.parent / "bare.git"))
    monkeypatch.setenv("GIT_COMMON_DIR", str(repo.parent / "bare.git"))
    found = locate(repo)
    assert found == (repo / ".git", repo / ".git")


@pytest.mark.parametrize(
    "text", ["", "gitdir: ", "gitdir: ../nowhere\n", "gitdir: a\0b", "somewhere", "gitdir: .\n"]
)
def test_a_broken_file_ends_the_search(repo: Path, text: str) -> None:
    inner = repo / "broken"
    inner.mkdir(exist_ok=True)
    (inner / ".git").write_text(text)
    assert locate(inner) is None


def test_an_empty_folder_of_that_name_does_not(repo: Path) -> None:
    (repo / "empty/.git").mkdir(parents=True)
    found = locate(repo / "empty")
    assert found is not None
    assert found.git_dir == repo / ".git"


@pytest.mark.parametrize("head", ["", "ref: elsewhere", "main"])
def test_a_head_that_names_nothing(tmp_path: Path, head: str) -> None:
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    (tmp_path / "HEAD").write_text(head)
    assert locate(tmp_path) is None


@pytest.mark.parametrize("common", ["", "a\0b", "missing"])
def test_a_common_directory_that_is_none(repo: Path, tmp_path: Path, common: str) -> None:
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "commondir").write_text(common)
    assert locate(tmp_path) is None
    (tmp_path / "commondir").write_text(f"{repo}/.git\n")
    assert locate(tmp_path) == (tmp_path, repo / ".git")


def test_a_head_that_is_a_link(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    (tmp_path / "HEAD").symlink_to("refs/heads/main")
    assert locate(tmp_path) == (tmp_path, tmp_path)


def test_nothing(tmp_path: Path) -> None:
    assert locate(tmp_path) is None
