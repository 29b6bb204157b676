"""Which pull request and which commit a report may be told to: asked of the API, never of the report."""

from __future__ import annotations

from typing import Final

import msgspec

from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.github.interface import Api, NotAllowedError, path, repository

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
    assignees: list[User] = []
    requested_reviewers: list[User] = []
    created_at: str = ""


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
    status: str = "completed"
    conclusion: str | None = None
    head_repository: _HeadRepo | None = None
    created_at: str = ""


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
    head_owner: str = ""
    author_type: str = "User"
    assigned: tuple[str, ...] = ()
    """Logins of who is assigned to it or asked to review it."""
    created_at: str = ""


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
        head_owner=head.full_name.partition("/")[0] if head else "",
        author_type=found.user.type if found.user else "User",
        assigned=tuple(user.login for user in (*found.assignees, *found.requested_reviewers)),
        created_at=found.created_at,
    )


def run_of(api: Api, repo: str, run_id: int, workflow: str) -> Run:
    """One run of ``workflow`` (its file's path). Raises UsageError when it is of another file.

    Anybody can give a workflow the same *name*; nobody can give it that path without changing it.
    """
    run = api.get(path("repos", *repository(repo), "actions", "runs", run_id), Run)
    if run.path.partition("@")[0] != workflow:
        raise UsageError(
            f"run {run_id} is of {ascii(run.path)[:120]}, not of {workflow}: its report is not published",
            advice="Name the workflow that makes the report with --workflow.",
        )
    return run


def pulls_of_run(api: Api, repo: str, run: Run) -> tuple[PullNow, ...]:
    """The open pull requests whose head is the commit that the run looked at, oldest first.

    GitHub leaves ``pull_requests`` of a run empty for forks, so they are found by head repository, branch
    and commit. There are several where one branch is to be merged into several. Raises UsageError for a run
    of another event, or when no open pull request has this commit as its head any more.
    """
    if run.event != "pull_request" or run.head_repository is None or not run.head_branch:
        raise UsageError(f"run {run.id} is for no pull request: nothing to publish")
    query = {"state": "open", "head": f"{run.head_repository.owner.login}:{run.head_branch}"}
    found = [
        _now(repo, p)
        for p in api.pages(path("repos", *repository(repo), "pulls"), _Pull, query, most=300)
        if p.head.sha == run.head_sha
    ]
    if not found:
        raise UsageError(
            f"no open pull request has {run.head_sha[:12]} as its head: it was closed, or a newer push came",
            advice="The run for the newer push publishes its own report.",
        )
    return tuple(sorted(found, key=lambda p: p.number))


def pulls_at(api: Api, repo: str, sha: str) -> tuple[PullNow, ...]:
    """Every open pull request whose head is this commit, those of forks too."""
    where = path("repos", *repository(repo), "pulls")
    found = api.pages(where, _Pull, {"state": "open"})
    return tuple(_now(repo, p) for p in found if p.head.sha == sha)


def sharing_head(api: Api, target: PullNow) -> tuple[PullNow, ...]:
    """Other open pull requests with the same head commit and another base branch.

    A check belongs to a commit, so it would count for all of them. All open pull requests are read: GitHub's
    list by commit leaves forks out.
    """
    return tuple(
        p
        for p in pulls_at(api, target.repo, target.head_sha)
        if p.number != target.number and p.base_ref != target.base_ref
    )


class _Named(msgspec.Struct):
    sha: str


class Comparison(msgspec.Struct):
    """Two commits: ``status`` of the second against the first (``ahead``: it holds the first)."""

    status: str
    total_commits: int
    merge_base_commit: _Named

    @property
    def holds(self) -> bool:
        """The second commit is the first, or comes after it."""
        return self.status in ("ahead", "identical")


def compare(api: Api, repo: str, base: str, head: str) -> Comparison:
    """How two commits of a repository (forks included) stand to each other."""
    where = path("repos", *repository(repo), "compare", f"{base}...{head}")
    return api.get(where, Comparison, {"per_page": 1})


class _GitCommit(msgspec.Struct):
    tree: _Named


def tree_of(api: Api, repo: str, commit: str) -> str:
    """The object name of a commit's tree."""
    return api.get(path("repos", *repository(repo), "git", "commits", commit), _GitCommit).tree.sha


def changed_paths(api: Api, pull_request: PullNow) -> frozenset[str] | None:
    """Every path the pull request touches, old names included; None when there are too many to list."""
    where = path("repos", *repository(pull_request.repo), "pulls", pull_request.number, "files")
    found = list(api.pages(where, _File, most=MOST_FILES))
    if len(found) >= MOST_FILES:
        return None
    return frozenset(name for f in found for name in (f.filename, f.previous_filename) if name)


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
