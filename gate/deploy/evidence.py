"""Joins deploy, change and forge: the verdicts that speak for a commit, in statements or checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

import msgspec

from gate.change.git_command import GitRepository
from gate.change.git_range import resolve
from gate.dataclass import dataclass
from gate.deploy.decide import Decision, Evidence, Step, Terms, decide
from gate.deploy.statement import Statement
from gate.github.checks import CheckRun, check_runs
from gate.github.interface import Api, path, repository
from gate.policy.digest import policy_digest
from gate.settings import DeploySettings, Settings

MOST_LINE: Final = 2_000
"""Commits of the trusted branch, newest first, among which a verdict's base must be."""
MOST_STEPS: Final = 200
_WORDS: Final = {"success": ("pass",), "neutral": ("warn",), "failure": ("fail", "inconclusive")}


class TooFarError(Exception):
    """A range that does not end where it should."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A commit's tree and parents."""

    tree: str
    parents: tuple[str, ...]


class History(Protocol):
    """What must be known of the repository's commits."""

    def node(self, commit: str) -> Node:
        """One commit."""
        ...

    def line(self, tip: str) -> Sequence[str]:
        """``tip`` and its first parents, newest first, at most MOST_LINE."""
        ...

    def merged(self, commit: str) -> Sequence[str]:
        """Heads of the pull requests that were merged as this commit."""
        ...


class GitHistory:
    """Commits of a local repository."""

    def __init__(self, door: GitRepository) -> None:
        self._door = door

    def node(self, commit: str) -> Node:
        """One commit."""
        text = (
            self._door.run("log", "-1", "--format=%T %P", "--end-of-options", commit).decode("ascii").split()
        )
        return Node(tree=text[0], parents=tuple(text[1:]))

    def line(self, tip: str) -> Sequence[str]:
        """``tip`` and its first parents, newest first, at most MOST_LINE."""
        start = resolve(self._door, tip)
        words = ("rev-list", "--first-parent", f"--max-count={MOST_LINE}", "--end-of-options", start)
        return self._door.run(*words).decode("ascii").split()

    def merged(self, commit: str) -> Sequence[str]:  # noqa: ARG002
        """Git does not know of pull requests."""
        return ()


class _Sha(msgspec.Struct):
    sha: str


class _Listed(msgspec.Struct):
    sha: str
    parents: list[_Sha]


class _GitCommit(msgspec.Struct):
    sha: str
    tree: _Sha
    parents: list[_Sha]


class _Merged(msgspec.Struct):
    head: _Sha
    merge_commit_sha: str | None = None
    merged_at: str | None = None


class ApiHistory:
    """Commits of a repository on GitHub."""

    def __init__(self, api: Api, repo: str) -> None:
        self._api, self._repo = api, repository(repo)

    def node(self, commit: str) -> Node:
        """One commit."""
        found = self._api.get(path("repos", *self._repo, "git", "commits", commit), _GitCommit)
        return Node(tree=found.tree.sha, parents=tuple(p.sha for p in found.parents))

    def line(self, tip: str) -> Sequence[str]:
        """``tip`` and its first parents, newest first, at most MOST_LINE. Of what GitHub lists, as far as
        the chain of first parents is unbroken.
        """
        where = path("repos", *self._repo, "commits")
        first: dict[str, str | None] = {}
        start = None
        for found in self._api.pages(where, _Listed, {"sha": tip}, most=MOST_LINE):
            start = start or found.sha
            first[found.sha] = found.parents[0].sha if found.parents else None
        out: list[str] = []
        while start is not None:
            out.append(start)
            start = first.get(start)
        return out

    def merged(self, commit: str) -> Sequence[str]:
        """Heads of the pull requests that were merged as this commit."""
        where = path("repos", *self._repo, "commits", commit, "pulls")
        found = self._api.pages(where, _Merged, most=50)
        return [p.head.sha for p in found if p.merged_at and p.merge_commit_sha == commit]


EvidenceSource = Callable[[str], Sequence[Evidence]]
"""Everything that was ever said about one commit."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """``sha`` in full; ``base`` the trusted branch; ``since`` the last deployed commit (None: only sha)."""

    sha: str
    base: str
    since: str | None = None


def vouch(
    request: Request, history: History, look: EvidenceSource, terms: Terms, *, now: float | None = None
) -> Decision:
    """Whether the commit (or every commit since the last deployed one) may be deployed.

    Raises what ``history`` and ``look`` raise: then nothing may be deployed either.
    """
    try:
        commits = _commits(request, history)
    except TooFarError as error:
        return Decision(allowed=False, reason=str(error))
    steps = []
    for commit in commits:
        own = tuple(look(commit))
        spoken = any(not e.distrusted for e in own)
        twins = () if spoken else _twins(commit, history)
        steps.append(Step(commit=commit, own=own, stand_ins={c: tuple(look(c)) for c in twins}))
    line = history.line(request.base)
    return decide(steps, terms, line=line, now=time.time() if now is None else now)


def terms_of(environment: str, wanted: DeploySettings, settings: Settings) -> Terms:
    """What an environment's table means. ``current`` is this program's rules with these settings."""
    current = {policy_digest(msgspec.to_builtins(settings.config))}
    named = {p for p in wanted.policies if p != "current"}
    return Terms(
        environment=environment,
        verdicts=frozenset(wanted.verdicts),
        max_age=wanted.max_age_hours * 3600,
        policies=frozenset(named | (current if "current" in wanted.policies else set())),
        overrides=wanted.overrides,
    )


def evidence_from_check_runs(api: Api, repo: str, app: str) -> EvidenceSource:
    """Verdicts out of check runs; only those of ``app`` (slug, or id in digits) are trusted."""

    def look(commit: str) -> Sequence[Evidence]:
        return [e for e in (_of_check(c, commit, app) for c in check_runs(api, repo, commit)) if e]

    return look


def _of_check(check: CheckRun, commit: str, app: str) -> Evidence | None:
    """None for a check that is still running: it says nothing yet."""
    if check.status != "completed" or check.head_sha != commit:
        return None
    stamp, ended, url = check.stamp(), _seconds(check.completed_at), check.html_url or ""
    stranger = _stranger(check, app)
    if stamp is None or stamp.head != commit or ended is None:
        # what a trusted app said last and nobody can read must not fall back to an older verdict
        return Evidence(
            commit=commit,
            verdict="inconclusive",
            score=100,
            policy="",
            at=int(time.time()) if ended is None else ended,
            base=None,
            source="a check without a readable verdict",
            url=url,
            distrusted=stranger,
        )
    return Evidence(
        commit=commit,
        verdict=stamp.verdict if stamp.verdict in _WORDS.get(check.conclusion or "", ()) else "inconclusive",
        score=min(max(stamp.score, 0), 100),
        policy=stamp.policy,
        at=min(stamp.at, ended),
        base=stamp.base,
        source=f"the check of {app}",
        url=url,
        distrusted=stranger,
        overridden=stamp.overridden is not None,
        overrides_until=stamp.overrides_until,
    )


def _stranger(check: CheckRun, app: str) -> str:
    """Why the app that made a check is not trusted, empty if it is."""
    if not app:
        return "the settings at base name no app whose check is believed"
    slug, number = (check.app.slug, str(check.app.id)) if check.app else ("", "")
    if app == (number if app.isdigit() else slug):
        return ""
    return f"the check was made by {ascii(slug)[1:-1][:60] or 'nobody'}, not by {app}"


def evidence_from_statements(found: Sequence[tuple[Statement, str]]) -> EvidenceSource:
    """Verdicts out of statements that were verified; each with words for who signed."""

    def look(commit: str) -> Sequence[Evidence]:
        return [_of_statement(made, by) for made, by in found if made.commit == commit]

    return look


def _of_statement(found: Statement, by: str) -> Evidence:
    told = found.predicate
    return Evidence(
        commit=found.commit,
        verdict=told.verdict,
        score=told.score,
        policy=told.digests.policy,
        at=told.at,
        base=told.base,
        source=by,
        overridden=told.overridden,
        overrides_until=told.overrides_until,
    )


def _seconds(text: str | None) -> int | None:
    """GitHub's ``2026-01-31T12:00:00Z`` as seconds since 1970."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return int(found.timestamp()) if found.tzinfo else None


def _commits(request: Request, history: History) -> list[str]:
    if request.since is None:
        return [request.sha]
    line = list(history.line(request.sha))
    if request.since not in line:
        raise TooFarError(
            f"{request.since[:12]} is not behind {request.sha[:12]}, or more than {MOST_LINE} back"
        )
    commits = line[: line.index(request.since)]
    if len(commits) > MOST_STEPS:
        raise TooFarError(
            f"{len(commits)} commits since {request.since[:12]}; at most {MOST_STEPS} are judged"
        )
    return commits or [request.sha]


def _twins(commit: str, history: History) -> tuple[str, ...]:
    """Commits with the very same tree that were merged as this one."""
    node = history.node(commit)
    candidates = [*(node.parents if len(node.parents) > 1 else ()), *history.merged(commit)]
    return tuple(c for c in dict.fromkeys(candidates) if c != commit and history.node(c).tree == node.tree)
