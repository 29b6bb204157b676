"""The input ``config`` reads base's objects or a named commit elsewhere, never the checkout (CF-7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.github.client import GitHubApi
from gate.github.publishing.action_step import _look
from gate.github.publishing.base_files import ApiTree
from gate.github.publishing.chosen import chosen
from gate.github.publishing.runner_context import surroundings
from gate.github.publishing.step import Inputs, Step
from gate.settings import Config, load
from tests.e2e.pulls import git
from tests.forge.standin.world import BASE, World


def _config(api: GitHubApi, config: str) -> Config:
    tree, names, where = chosen(config, ApiTree(api, "octo/shop", BASE), lambda: api)
    return load(base=tree, environ={}, names=names, where=where).config


def test_a_path_at_base_or_of_another_repositorys_commit(api: GitHubApi, world: World) -> None:
    world.files[BASE, "gate.toml"] = b"[policy]\nwarn = 11\n"
    world.files[BASE, "ci/gate.toml"] = b"[policy]\nwarn = 12\n"
    world.files["c" * 40, "team/gate.toml"] = b"[policy]\nwarn = 13\n"
    assert _config(api, "").policy.warn == 11
    assert _config(api, "./ci/gate.toml").policy.warn == 12
    assert _config(api, f"octo/shop@{'c' * 40}:team/gate.toml").policy.warn == 13


@pytest.mark.parametrize(
    "config", ["none.toml", "octo/shop@main:gate.toml", f"octo/shop@{'c' * 12}:gate.toml", "/etc/passwd"]
)
def test_everything_else_is_refused(api: GitHubApi, config: str) -> None:
    with pytest.raises(UsageError):
        _config(api, config)


def test_a_file_that_only_the_checkout_has_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same pull request loosened its own gate by changing the file that ``config`` names."""
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "base")
    base = git(tmp_path, "rev-parse", "HEAD").strip()
    (tmp_path / "gate.toml").write_text("[sandbox]\nenabled = false\n")
    git(tmp_path, "add", "gate.toml")
    git(tmp_path, "commit", "-q", "-m", "loosen")
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    monkeypatch.chdir(tmp_path)
    around = surroundings({"GITHUB_REPOSITORY": "octo/shop"})
    wanted = Inputs(base=base, head=head, config="gate.toml", repository=str(tmp_path))
    with pytest.raises(UsageError, match="no settings file"):
        _look(Step(inputs=wanted, event=None, around=around))
