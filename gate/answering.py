"""Joins deploy, forge and settings: may this commit be deployed, as far as GitHub tells?"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gate.deploy.decide import Decision
from gate.forge.interface import Api, path, repository
from gate.publishing.base import ApiTree
from gate.settings import load
from gate.vouching import ApiHistory, Request, look_at_checks, terms_of, vouch


class _Repository(msgspec.Struct):
    default_branch: str


def decide_on_github(
    api: Api,
    repo: str,
    sha: str,
    environment: str,
    *,
    branch: str | None = None,
    since: str | None = None,
    config: Path | None = None,
    now: float | None = None,
) -> Decision:
    """The decision from check runs, with the settings of the trusted branch (None: the default branch).

    Raises the forge's errors, UsageError for settings that cannot be read.
    """
    decision, _ = decide_with_patience(
        api, repo, sha, environment, branch=branch, since=since, config=config, now=now
    )
    return decision


def decide_with_patience(
    api: Api,
    repo: str,
    sha: str,
    environment: str,
    *,
    branch: str | None = None,
    since: str | None = None,
    config: Path | None = None,
    now: float | None = None,
) -> tuple[Decision, float]:
    """As :func:`decide_on_github`, with the seconds for which the environment waits for a verdict."""
    branch = branch or api.get(path("repos", *repository(repo)), _Repository).default_branch
    history = ApiHistory(api, repo)
    line = history.line(branch)
    if not line:
        return Decision(allowed=False, reason=f"the branch {branch} has no commits"), 0.0
    settings = load(base=ApiTree(api, repo, line[0]), file=config, environ={})
    wanted = settings.config.deploy_to(environment)
    if wanted is None:
        why = f"gate.toml on {branch} has no table [deploy.{environment}]: docs/deploy.md shows one"
        return Decision(allowed=False, reason=why), 0.0
    terms = terms_of(environment, wanted, settings)
    request = Request(sha=sha, base=line[0], since=since)
    found = vouch(request, history, look_at_checks(api, repo, wanted.app), terms, now=now)
    return found, wanted.wait_minutes * 60
