"""Which pull request and which commit a report may be told to: asked of the API, never of the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from gate.errors import UsageError
from gate.forge.interface import Api, NotAllowedError, path, repository

MOST_FILES: Final = 3_000
"""GitHub lists no more files of a pull request than this."""


class User(msgspec.Struct):
    """A login; ``type`` is ``User``, ``Bot``, ``Organization``."""

    login: str
    type: str = "User"


class _Repo(msgspec.Struct):
    id: int
    full_name: str


class _Side(msgspec.Struct):
    sha: str
    ref: str
    repo: _Repo | None = None


class _Pull(msgspec.Struct):
    number: int
    state: str
    head: _Side
    base: _Side
    user: User | None = None


class _Owner(msgspec.Struct):
    login: str


class _HeadRepo(msgspec.Struct):
    owner: _Owner


class Run(msgspec.Struct):
    """A workflow run. ``path`` is the workflow's file, possibly followed by ``@ref``."""

    id: int
    event: str
    head_sha: str
    head_branch: str | None
    path: str
    head_repository: _HeadRepo | None = None


class _File(msgspec.Struct):
    filename: str
    previous_filename: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PullNow:
    """A pull request as the API tells it now. ``author`` is a login, empty for a deleted account."""

    repo: str
    number: int
    head_sha: str
    base_sha: str
    head_ref: str
    base_ref: str
    author: str
    is_open: bool
    from_fork: bool


def pull(api: Api, repo: str, number: int) -> PullNow:
    """One pull request. Raises the errors of interface.py."""
    return _now(repo, api.get(path("repos", *repository(repo), "pulls", number), _Pull))


def _now(repo: str, found: _Pull) -> PullNow:
    head, base = found.head.repo, found.base.repo
    return PullNow(
        repo=repo,
        number=found.number,
        head_sha=found.head.sha,
        base_sha=found.base.sha,
        head_ref=found.head.ref,
        base_ref=found.base.ref,
        author=found.user.login if found.user else "",
        is_open=found.state == "open",
        from_fork=head is None or base is None or head.id != base.id,
    )


def pull_of_run(api: Api, repo: str, run_id: int, workflow: str) -> PullNow:
    """The open pull request that one finished run of ``workflow`` (its file's path) looked at.

    GitHub leaves ``pull_requests`` of a run empty for forks, so it is found by head repository, branch
    and commit. Raises UsageError when the run is of another workflow (anybody can give a workflow
    the same *name*) or event, or when no open pull request has this commit as its head any more.
    """
    run = api.get(path("repos", *repository(repo), "actions", "runs", run_id), Run)
    if run.path.partition("@")[0] != workflow:
        raise UsageError(
            f"run {run_id} is of {ascii(run.path)[:120]}, not of {workflow}: its report is not published",
            advice="Name the workflow that makes the report with --workflow.",
        )
    if run.event != "pull_request" or run.head_repository is None or not run.head_branch:
        raise UsageError(f"run {run_id} is for no pull request: nothing to publish")
    query = {"state": "open", "head": f"{run.head_repository.owner.login}:{run.head_branch}"}
    for found in api.pages(path("repos", *repository(repo), "pulls"), _Pull, query, most=300):
        if found.head.sha == run.head_sha:
            return _now(repo, found)
    raise UsageError(
        f"no open pull request has {run.head_sha[:12]} as its head: it was closed, or a newer push came",
        advice="The run for the newer push publishes its own report.",
    )


def changed_paths(api: Api, pull_request: PullNow) -> frozenset[str] | None:
    """Every path the pull request touches, old names included; None when there are too many to list."""
    where = path("repos", *repository(pull_request.repo), "pulls", pull_request.number, "files")
    found = list(api.pages(where, _File, most=MOST_FILES))
    if len(found) >= MOST_FILES:
        return None
    return frozenset(name for f in found for name in (f.filename, f.previous_filename) if name)


class _Account(msgspec.Struct):
    author: User | None = None
    committer: User | None = None


def authors(api: Api, pull_request: PullNow) -> frozenset[str]:
    """Lower-case logins of everybody who opened the pull request or wrote a commit of it (250 at most)."""
    where = path("repos", *repository(pull_request.repo), "pulls", pull_request.number, "commits")
    found = {pull_request.author.lower()}
    for commit in api.pages(where, _Account, most=250):
        found |= {user.login.lower() for user in (commit.author, commit.committer) if user}
    return frozenset(found - {"", "web-flow"})


def own_login(api: Api, otherwise: str) -> str:
    """Whose name this token writes under. An app's token may not ask: then ``otherwise``."""
    try:
        return api.get("/user", User).login
    except NotAllowedError as error:
        if error.status == 403:
            return otherwise
        raise


def role(api: Api, repo: str, login: str) -> str:
    """``none``, ``read``, ``triage``, ``write``, ``maintain`` or ``admin``; custom roles by their base."""

    class Answer(msgspec.Struct):
        permission: str
        role_name: str = ""

    answer = api.get(path("repos", *repository(repo), "collaborators", login, "permission"), Answer)
    known = ("none", "read", "triage", "write", "maintain", "admin")
    return answer.role_name if answer.role_name in known else answer.permission
