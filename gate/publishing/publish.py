"""From a report.json to everything that people see of it on a pull request."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gate import audit
from gate.errors import UsageError
from gate.forge.artifact import latest_run, member_of_run
from gate.forge.comment import comments
from gate.forge.interface import Api, ForgeError
from gate.forge.target import PullNow, changed_paths, own_login, pull, pull_of_run
from gate.model.override import Override, OverrideDecision
from gate.model.report import Report
from gate.model.score import Verdict
from gate.policy import override
from gate.publishing import people
from gate.publishing.base import ApiTree
from gate.publishing.believe import doubted, judged_by, received, recomputed
from gate.publishing.surroundings import Surroundings, read_report
from gate.publishing.tell import Outcome, Where, at_pull, tell
from gate.report.annotations import step_summary
from gate.report.v1 import MAX_BYTES
from gate.settings import Settings, load

WORKFLOW: Final = ".github/workflows/gate-check.yml"
ARTIFACT: Final = "gate-report"
MEMBER: Final = "report.json"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to publish. ``report`` None: fetch it from the artifact of the run."""

    report: Path | None = None
    pull: int | None = None
    workflow: str = WORKFLOW
    artifact: str = ARTIFACT
    audit: Path | None = None
    config: Path | None = None
    flags: Mapping[str, tuple[object, str]] | None = None


def publish(around: Surroundings, wanted: Wanted) -> tuple[Report, Outcome]:
    """The second half of the fork-safe form: pull request and commit from the API, never from the report.

    Raises UsageError for what may not be published (nothing has then been told) and the forge's errors
    when the API does not say enough to know.
    """
    api = around.api()
    target, run_id = _target(api, around, wanted)
    settings = load(base=ApiTree(api, around.repo, target.base_sha), file=wanted.config, flags=wanted.flags)
    if wanted.report is not None:
        raw = read_report(wanted.report)
    else:
        run_id = run_id or latest_run(api, around.repo, wanted.workflow, target.head_sha)
        raw = member_of_run(api, around.repo, run_id, artifact=wanted.artifact, member=MEMBER, most=MAX_BYTES)
    report = recomputed(received(raw, head=target.head_sha), settings)
    paths = changed_paths(api, target)
    if paths is None:
        report = doubted(report, "the pull request is too large to see whether it edits the gate's workflow")
    elif touched := sorted(p for p in paths if p == wanted.workflow or p.startswith(".github/actions/")):
        report = doubted(report, f"the change edits what made this report: {touched[0]}")
    return told(api, around, target, settings, report, raw=raw, log=wanted.audit)


def told(
    api: Api,
    around: Surroundings,
    target: PullNow,
    settings: Settings,
    report: Report,
    *,
    raw: bytes,
    log: Path | None = None,
) -> tuple[Report, Outcome]:
    """Judge the overrides, write the step summary, then tell GitHub. Returns the report after overrides."""
    me = own_login(api, settings.config.github.author)
    before = report.verdict
    now = time.time()
    report = _overridden(api, target, settings, report, me, now)
    if log is not None:
        record(log, report, target, before, now=int(now))
    where = at_pull(target, server=around.server, run=around.run, attempt=around.attempt, now=int(now))
    policy = judged_by(report, settings)
    outcome = tell(api, report, where, settings.config.github, me=me, policy=policy, before=before, raw=raw)
    note = "" if not (outcome.refused or outcome.failed) else outcome.words()
    around.summarise(step_summary(report, blob_url=where.blob_url, note=_quoted(note)))
    return report, outcome


def told_commit(
    api: Api, around: Surroundings, settings: Settings, report: Report, *, branch: str, raw: bytes
) -> Outcome:
    """The check (and SARIF) of a commit that was pushed or queued: without it no deployment could rest on it.

    ``branch``: a branch's name or a whole ref. Overrides in comments have no place here.
    """
    ref = branch if branch.startswith("refs/") or not branch else f"refs/heads/{branch}"
    where = Where(
        repo=around.repo,
        sha=report.change.head or "",
        ref=ref,
        pull=None,
        server=around.server,
        run=around.run,
        attempt=around.attempt,
        now=int(time.time()),
    )
    policy = judged_by(report, settings)
    outcome = tell(api, report, where, settings.config.github, me="", policy=policy, raw=raw)
    note = "" if not (outcome.refused or outcome.failed) else outcome.words()
    around.summarise(step_summary(report, blob_url=where.blob_url, note=_quoted(note)))
    return outcome


def _quoted(note: str) -> str:
    from gate.textsafe import markdown

    return "\n".join(f"> {markdown(line, 400)}\n>" for line in note.splitlines())


def _target(api: Api, around: Surroundings, wanted: Wanted) -> tuple[PullNow, int | None]:
    if around.workflow_run is not None and wanted.pull is None:
        found = pull_of_run(api, around.repo, around.workflow_run, wanted.workflow)
        return found, around.workflow_run
    number = wanted.pull or around.pull
    if number is None:
        raise UsageError(
            "which pull request? The event names none",
            advice="Run on pull_request, workflow_run or issue_comment, or give --pull NUMBER.",
        )
    found = pull(api, around.repo, number)
    if not found.is_open:
        raise UsageError(f"pull request {number} is closed: nothing to publish")
    return found, None


def _overridden(api: Api, target: PullNow, settings: Settings, report: Report, me: str, now: float) -> Report:
    rules = settings.config.override
    asked: list[Override] = []
    refused: list[OverrideDecision] = []
    with contextlib.suppress(KeyError):
        asked += override.parse_file(ApiTree(api, target.repo, target.base_sha).read(override.FILE))
    if rules.comments:
        try:
            since = people.first_told(api, target, me)
            found = comments(api, target.repo, target.number)
            by_comment, refused = people.asked(api, target, found, since=since, least=rules.role)
            asked += by_comment
        except ForgeError as error:
            # Without the conversation no comment counts: the verdict can only be stricter for it.
            blind = Override(what="?", reason="", by="", source="comment")
            refused = [OverrideDecision(override=blind, accepted=False, refused=error.message)]
    return override.apply(report, asked, now=now, hard_blocks=rules.hard_blocks, refused=refused)


def record(log: Path, report: Report, target: PullNow, before: Verdict, *, now: int) -> None:
    """Every decision about this commit, into the audit log."""
    for decision in report.overrides:
        asked = decision.override
        audit.append(
            log,
            {
                "repo": target.repo,
                "pull": str(target.number),
                "head": target.head_sha,
                "decision": "accepted" if decision.accepted else f"refused: {decision.refused}",
                "what": asked.what,
                "covers": " ".join(decision.covers[:200]),
                "by": asked.by,
                "reason": asked.reason[:2_000],
                "source": asked.source,
                "where": asked.where,
                "until": str(asked.until or ""),
                "verdict": f"{before.value} -> {report.verdict.value}",
            },
            at=now,
        )
