"""Entries of a merge queue in the two-workflow form: which commit was looked at, against what."""

from __future__ import annotations

from typing import Final

from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.github.interface import Api
from gate.github.publishing.base_files import ApiTree
from gate.github.target import Run, compare
from gate.model.doubt import Doubt
from gate.model.report import Report

PREFIX: Final = "gh-readonly-queue/"
"""Branches that only GitHub makes: ``gh-readonly-queue/<base branch>/pr-<number>-<sha>``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueEntry:
    """One entry. ``branch`` is the queue's own, ``base_ref`` the branch that it is to be merged into."""

    repo: str
    head_sha: str
    branch: str
    base_ref: str


def entry_of_run(repo: str, run: Run) -> QueueEntry:
    """The entry that a run looked at. Raises UsageError for a branch that is no queue's."""
    branch = run.head_branch or ""
    base_ref = branch.removeprefix(PREFIX).rpartition("/")[0]
    owner = run.head_repository.owner.login if run.head_repository else ""
    ours = owner.lower() == repo.partition("/")[0].lower()
    if run.event != "merge_group" or not branch.startswith(PREFIX) or not base_ref or not ours:
        raise UsageError(f"run {run.id} is for no entry of a merge queue: nothing to publish")
    return QueueEntry(repo=repo, head_sha=run.head_sha, branch=branch, base_ref=base_ref)


def bound_entry(api: Api, report: Report, entry: QueueEntry) -> Report:
    """The report, if it is about the whole step to this entry. Raises UsageError.

    Its base must be an ancestor of the entry and its own merge base. An entry may rest on the one before it:
    GitHub merges it only after that one.
    """
    base = report.change.base
    if base is None or report.change.merge_base != base or report.pull_request is not None:
        raise UsageError("the report is not about an entry of a merge queue", advice="Queue it again.")
    if not compare(api, entry.repo, base, entry.head_sha).holds or base == entry.head_sha:
        raise UsageError(
            f"the report's base {base[:12]} is not below the entry {entry.head_sha[:12]}",
            advice="Queue it again.",
        )
    return report


def entry_doubts(api: Api, entry: QueueEntry, workflow: str) -> tuple[Doubt, ...]:
    """An entry that changes the workflow which made its report is never green by its own word."""
    at_base, at_entry = (
        _read(ApiTree(api, entry.repo, commit), workflow) for commit in (entry.base_ref, entry.head_sha)
    )
    if at_base == at_entry:
        return ()
    return (
        Doubt(
            kind="workflow-edited",
            reason=f"the entry changes what made this report: {workflow}",
            remedy="Merge that change by itself, past the queue, as somebody who may bypass the rule",
        ),
    )


def _read(tree: ApiTree, path: str) -> bytes | None:
    try:
        return tree.read(path)
    except KeyError:
        return None
