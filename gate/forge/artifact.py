"""The report that a workflow run left behind, taken out of its archive without extracting anything (GH-3)."""

from __future__ import annotations

import io
import zipfile
from typing import Final

import msgspec

from gate.errors import UsageError
from gate.forge.interface import Api, path, repository
from gate.forge.target import Run

MOST_ARCHIVE: Final = 64 << 20
"""Bytes of an archive that we download."""


class _Artifact(msgspec.Struct):
    id: int
    name: str
    expired: bool
    size_in_bytes: int = 0


def latest_run(api: Api, repo: str, workflow: str, head_sha: str) -> int:
    """The newest finished run of ``workflow`` (its file's path) for a pull request with this head.

    Raises UsageError when there is none.
    """
    name = workflow.rpartition("/")[2]
    where = path("repos", *repository(repo), "actions", "workflows", name, "runs")
    query = {"head_sha": head_sha, "event": "pull_request", "status": "completed"}
    found = [r for r in api.pages(where, Run, query, key="workflow_runs", most=300) if r.head_sha == head_sha]
    if not found:
        raise UsageError(
            f"no finished run of {workflow} for {head_sha[:12]}", advice="Wait for it, or re-run it."
        )
    return max(run.id for run in found)


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


def read_member(archive: bytes, member: str, most: int) -> bytes:
    """The bytes of exactly one regular file at the archive's root. Raises UsageError."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            named = [i for i in opened.infolist() if i.filename == member]
            if len(named) != 1:
                raise UsageError(f"the artifact holds {len(named)} files named {member}")
            kind = named[0].external_attr >> 28
            if kind not in (0, 0o10):  # no mode at all, or a regular file
                raise UsageError(f"{member} in the artifact is no regular file")
            with opened.open(named[0]) as stream:
                raw = stream.read(most + 1)
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError, EOFError) as error:
        raise UsageError(f"the artifact is no archive that can be read ({type(error).__name__})") from error
    if len(raw) > most:
        raise UsageError(f"{member} in the artifact is larger than {most >> 20} MiB")
    return raw
