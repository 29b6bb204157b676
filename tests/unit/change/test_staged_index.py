"""Which index is about to be committed: git's own for this commit, not the repository's, in its hooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.change.uncommitted import open_uncommitted
from gate.errors import NothingToJudgeError
from tests.e2e.pulls import Pull, build, git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return build(Pull(name="staged", head={"a.py": "A = 1\n"}, verdicts=()), tmp_path)


def paths(repo: Path) -> list[str]:
    with open_uncommitted(repo, "staged") as opened:
        return [file.path for file in opened.change.files]


def test_the_index_that_git_made_for_this_commit_is_the_one_that_counts(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = repo / ".git" / "next-index-1.lock"
    (repo / "new.py").write_text("B = 1\n")
    git(repo, "add", "new.py")
    (repo / ".git" / "index").rename(index)
    git(repo, "read-tree", "HEAD")  # the repository's own says that nothing is staged
    with pytest.raises(NothingToJudgeError):
        paths(repo)
    monkeypatch.chdir(repo)
    for named in (str(index), ".git/next-index-1.lock"):  # as `git commit PATH`, and `git commit -a`, give it
        monkeypatch.setenv("GIT_INDEX_FILE", named)
        assert paths(repo) == ["new.py"]


def test_an_index_of_another_repository_is_not_meant(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "new.py").write_text("B = 1\n")
    git(repo, "add", "new.py")
    other = repo.parent / "index"
    other.write_bytes(b"no index")
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    assert paths(repo) == ["new.py"]
