"""Why a report may not be what an honest look would have said, asked of the API (docs/trust.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate import __version__
from gate.github.checks import NAME
from gate.github.interface import Api, ForgeError
from gate.github.job_names import may_report
from gate.github.publishing.base_files import ApiTree
from gate.github.target import MOST_FILES, PullNow, changed_paths, sharing_head
from gate.model.doubt import Doubt
from gate.model.report import Report

_WORKFLOWS: Final = ".github/workflows/"
_ACTIONS: Final = ".github/actions/"
_MOST_WORKFLOWS: Final = 20
_VOUCH: Final = (
    "Look at the workflow files of this commit; then somebody with the role that override.vouch names "
    "can comment `/gate vouch sha: <the whole head commit> reason: ...`"
)


def doubts(api: Api, target: PullNow, report: Report, workflow: str, name: str = NAME) -> tuple[Doubt, ...]:
    """Every doubt about a report that a job of this pull request made."""
    return (*_version(report), *_edited(api, target, workflow, name), *shared_head(api, target))


def _version(report: Report) -> Iterator[Doubt]:
    if report.gate_version != __version__:
        yield Doubt(
            kind="version",
            reason=f"the report is of gate {ascii(report.gate_version)[1:-1][:40]}, this is {__version__}",
            remedy="Pin the same version in both workflows; a pull request that raises both pins: " + _VOUCH,
            vouchable=True,
        )


def _edited(api: Api, target: PullNow, workflow: str, name: str) -> Iterator[Doubt]:
    """On pull_request the change's own workflow files run: what they report may be anything."""
    paths = changed_paths(api, target)
    if paths is None:
        yield Doubt(
            kind="too-many-files",
            reason="the pull request is too large to see whether it edits the gate's workflow "
            f"({MOST_FILES:,} files or more)",
            remedy="Make smaller ones of it. Or: " + _VOUCH,
            vouchable=True,
        )
        return
    touched = sorted(p for p in paths if p == workflow or p.startswith(_ACTIONS))
    if touched:
        yield Doubt(
            kind="workflow-edited",
            reason=f"the change edits what made this report: {touched[0]}",
            remedy=_VOUCH,
            vouchable=True,
        )
    others = sorted(p for p in paths if _is_workflow(p) and p != workflow)
    named = next((p for p in others[:_MOST_WORKFLOWS] if _reports(api, target, p, name)), None)
    if named is None and len(others) > _MOST_WORKFLOWS:
        named = others[_MOST_WORKFLOWS]
    if named is not None:
        yield Doubt(
            kind="check-name",
            reason=f"a job in {named} may report a check named {name}, as the same app",
            remedy=f"Name the job otherwise. Or: {_VOUCH}",
            vouchable=True,
        )


def _is_workflow(path: str) -> bool:
    return path.startswith(_WORKFLOWS) and path.lower().endswith((".yml", ".yaml"))


def _reports(api: Api, target: PullNow, path: str, name: str) -> bool:
    """Reads the file at head, as data. One that is not there any more reports nothing."""
    try:
        return may_report(ApiTree(api, target.repo, target.head_sha).read(path), name)
    except KeyError:
        return False
    except ForgeError:
        return True


def shared_head(api: Api, target: PullNow) -> Iterator[Doubt]:
    """A check belongs to a commit: it would open every pull request with this head."""
    for other in sharing_head(api, target)[:1]:
        yield Doubt(
            kind="shared-head",
            reason=f"pull request {other.number} has the same head commit and goes to another branch",
            remedy=f"Close it, or push a commit to one of the two; then run {NAME} again",
        )
