"""Joins deploy, forge and settings: may this commit be deployed, as far as GitHub tells?"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gate.deploy.decide import Decision
from gate.deploy.evidence import ApiHistory, Request, evidence_from_check_runs, terms_of, vouch
from gate.github.interface import Api, path, repository
from gate.github.publishing.base_files import ApiTree
from gate.github.publishing.chosen import chosen
from gate.settings import load


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
    config: Path | str | None = None,
) -> Decision:
    """The decision from check runs, with the settings of the trusted branch (None: the default branch).

    ``config``: another settings file: of this machine (Path), or as publishing/chosen.py says (str).

    Raises the forge's errors, UsageError for settings that cannot be read.
    """
    decision, _ = decide_with_patience(api, repo, sha, environment, branch=branch, since=since, config=config)
    return decision


def decide_with_patience(
    api: Api,
    repo: str,
    sha: str,
    environment: str,
    *,
    branch: str | None = None,
    since: str | None = None,
    config: Path | str | None = None,
) -> tuple[Decision, float]:
    """As :func:`decide_on_github`, with the seconds for which the environment waits for a verdict."""
    branch = branch or api.get(path("repos", *repository(repo)), _Repository).default_branch
    history = ApiHistory(api, repo)
    line = history.line(branch)
    if not line:
        return Decision(allowed=False, reason=f"the branch {branch} has no commits"), 0.0
    tree, names, where = chosen(
        config if isinstance(config, str) else "", ApiTree(api, repo, line[0]), lambda: api
    )
    settings = load(
        base=tree, file=config if isinstance(config, Path) else None, names=names, where=where, environ={}
    )
    wanted = settings.config.deploy_to(environment)
    if wanted is None:
        why = f"gate.toml on {branch} has no table [deploy.{environment}]: docs/deploy.md shows one"
        return Decision(allowed=False, reason=why), 0.0
    terms = terms_of(environment, wanted, settings)
    request = Request(sha=sha, base=line[0], since=since)
    found = vouch(request, history, evidence_from_check_runs(api, repo, wanted.app), terms)
    return found, wanted.wait_minutes * 60
