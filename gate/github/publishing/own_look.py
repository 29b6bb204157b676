"""What an App of our own tells that looked itself: no job of the change's made the report (docs/serve.md).

The report is bound and judged as any other; what only a workflow of the change could have forged is no doubt.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from gate.errors import GateError
from gate.github.comment import Comment
from gate.github.interface import Api
from gate.github.publishing import notice
from gate.github.publishing.base_files import ApiTree
from gate.github.publishing.doubts import shared_head
from gate.github.publishing.publication import Published, Where
from gate.github.publishing.publish import (
    ReceivedReport,
    commit_or_pull,
    own_name,
    publish_commit,
    publish_pull,
    refuse,
    settled,
)
from gate.github.publishing.queue import QueueEntry, bound_entry
from gate.github.publishing.runner_context import RunnerContext
from gate.github.publishing.trust import bound, received, recomputed
from gate.github.target import PullNow
from gate.model.report import Report
from gate.settings import GithubSettings, Settings, load

SettingsAt = Callable[[Api, str, str], Settings]
"""(client, repository, commit) to the settings in force there. Raises UsageError."""


def settings_at(api: Api, repo: str, commit: str) -> Settings:
    """Those of gate.toml at the commit."""
    return load(base=ApiTree(api, repo, commit))


def begin(api: Api, around: RunnerContext, about: PullNow | QueueEntry, settings_of: SettingsAt) -> None:
    """The check is in progress. Raises the forge's errors."""
    github = GithubSettings()
    with contextlib.suppress(GateError):  # settings that nobody can read are told of at the end
        base = about.base_sha if isinstance(about, PullNow) else about.base_ref
        github = settings_of(api, around.repo, base).config.github
    notice.begin(api, _where(around, about), github, me=own_name(api, around, github))


def publish(
    api: Api,
    around: RunnerContext,
    target: PullNow,
    raw: bytes,
    settings_of: SettingsAt,
    *,
    pressed: Sequence[Comment] = (),
) -> tuple[Report, Published]:
    """Tell a report about this pull request; what may not be told is an inconclusive check, and raised."""

    def publish_to(pulls: tuple[PullNow, ...]) -> tuple[Report, Published]:
        settings, about = None, pulls[0]
        try:
            settings = settings_of(api, around.repo, about.base_sha)
            report = bound(api, received(raw, head=about.head_sha), about, settings, numbered=True)
            report = replace(recomputed(report, settings), doubts=tuple(shared_head(api, about)))
        except GateError as error:
            refuse(api, around, _where(around, about), settings, error)
            raise
        return publish_pull(api, around, about, settings, ReceivedReport(report, raw), pressed=pressed)

    return settled(api, (target,), publish_to)


def publish_entry(
    api: Api, around: RunnerContext, entry: QueueEntry, raw: bytes, settings_of: SettingsAt
) -> tuple[Report, Published]:
    """Tell a report about an entry of a merge queue; raises as ``publish`` does."""
    settings = None
    try:
        report = bound_entry(api, received(raw, head=entry.head_sha), entry)
        settings = settings_of(api, around.repo, report.change.base or "")
        report = recomputed(report, settings)
    except GateError as error:
        refuse(api, around, _where(around, entry), settings, error)
        raise
    return report, publish_commit(api, around, settings, report, branch=entry.branch, raw=raw)


def could_not(api: Api, around: RunnerContext, about: PullNow | QueueEntry, error: GateError) -> None:
    """The check is inconclusive: the look came to nothing. Raises the forge's errors."""
    github = GithubSettings()
    notice.refuse(api, _where(around, about), github, error, me=own_name(api, around, github))


def _where(around: RunnerContext, about: PullNow | QueueEntry) -> Where:
    if isinstance(about, PullNow):
        return commit_or_pull(around, about.head_sha, "", about)
    return commit_or_pull(around, about.head_sha, about.branch, None)
