"""The report that a workflow run left behind, taken out of its archive without extracting anything (GH-3)."""

from __future__ import annotations

from typing import Final

import msgspec

from gate.errors import UsageError
from gate.github.archive import read_member
from gate.github.interface import Api, path, repository
from gate.github.target import PullNow, Run

MOST_ARCHIVE: Final = 64 << 20
"""Bytes of an archive that we download."""


class _Artifact(msgspec.Struct):
    id: int
    name: str
    expired: bool
    size_in_bytes: int = 0


def latest_run(api: Api, repo: str, workflow: str, target: PullNow) -> Run | None:
    """The newest finished run of ``workflow`` (its file's path) that looked at this pull request's head.

    Runs that were skipped looked at nothing. None when there is no other.
    """
    name = workflow.rpartition("/")[2]
    where = path("repos", *repository(repo), "actions", "workflows", name, "runs")
    query = {"head_sha": target.head_sha, "event": "pull_request", "status": "completed"}
    found = [r for r in api.pages(where, Run, query, key="workflow_runs", most=1_000) if _looked(r, target)]
    return max(found, key=lambda r: r.id, default=None)


def _looked(run: Run, target: PullNow) -> bool:
    owner = run.head_repository.owner.login if run.head_repository else ""
    same = (run.head_sha, run.head_branch, owner) == (target.head_sha, target.head_ref, target.head_owner)
    return same and run.conclusion != "skipped"


def member_of_run(api: Api, repo: str, run_id: int, *, artifact: str, member: str, most: int) -> bytes:
    """One file out of a run's artifact; the newest of that name where there are several.

    Read in memory, by name, at most ``most`` bytes: paths, links and bombs in the archive have no
    effect. Raises UsageError when it is not there, too large or no archive.
    """
    where = path("repos", *repository(repo), "actions", "runs", run_id, "artifacts")
    found = [
        a
        for a in api.pages(where, _Artifact, {"name": artifact}, key="artifacts", most=300)
        if a.name == artifact and not a.expired
    ]
    if not found:
        raise UsageError(
            f"run {run_id} left no artifact named {artifact}", advice="Did gate-check upload it?"
        )
    newest = max(found, key=lambda a: a.id)
    if newest.size_in_bytes > MOST_ARCHIVE:
        raise UsageError(f"the artifact is larger than {MOST_ARCHIVE >> 20} MiB")
    zipped = path("repos", *repository(repo), "actions", "artifacts", newest.id, "zip")
    return read_member(api.download(zipped, MOST_ARCHIVE), member, most)
