"""From a report.json to everything that people see of it on a pull request (docs/trust.md draws it)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gate.dataclass import dataclass
from gate.errors import GateError, UsageError
from gate.escape import markdown
from gate.github import audit_log as audit
from gate.github.artifact import latest_run, member_of_run
from gate.github.checks import named, own_check, statuses
from gate.github.comment import Comment, comments
from gate.github.interface import Api, ForgeError, MissingError, NotAllowedError
from gate.github.publishing import notice, override_comments
from gate.github.publishing.base_files import ApiTree
from gate.github.publishing.chosen import chosen
from gate.github.publishing.doubts import doubts
from gate.github.publishing.publication import Basis, Published, Where, at_pull, publish_report
from gate.github.publishing.queue import QueueEntry, bound_entry, entry_doubts, entry_of_run
from gate.github.publishing.runner_context import RunnerContext, read_report
from gate.github.publishing.trust import began_for, bound, judged_by, received, recomputed
from gate.github.target import PullNow, Run, own_login, pull, pulls_of_run, run_of
from gate.model.override import Override, OverrideDecision
from gate.model.report import Report
from gate.model.score import Verdict
from gate.policy import override
from gate.report.annotations import step_summary
from gate.report.v1 import MAX_BYTES
from gate.settings import GithubSettings, Settings, load

WORKFLOW: Final = ".github/workflows/gate-check.yml"
ARTIFACT: Final = "gate-report"
MEMBER: Final = "report.json"
_TRIES: Final = 3
"""How often a verdict is made again because what it rests on changed while it was written."""


@dataclass(frozen=True, kw_only=True)
class PublishRequest:
    """What to publish. ``report`` None: fetch it from the artifact of the run.

    ``config``: a settings file of the caller's own machine; ``chosen``: the action's input (chosen.py).
    """

    report: Path | None = None
    pull: int | None = None
    workflow: str = WORKFLOW
    artifact: str = ARTIFACT
    audit: Path | None = None
    config: Path | None = None
    chosen: str = ""
    flags: Mapping[str, tuple[object, str]] | None = None


@dataclass(frozen=True)
class ReceivedReport:
    """A report as values, and the bytes of the report.json that it was read from."""

    report: Report
    raw: bytes


@dataclass(frozen=True, kw_only=True)
class _Target:
    """What is to be told about: pull requests with one head, or an entry of a merge queue; and the run."""

    pulls: tuple[PullNow, ...] = ()
    entry: QueueEntry | None = None
    run: Run | None = None


def publish(around: RunnerContext, wanted: PublishRequest) -> tuple[Report | None, Published]:
    """The second half of the fork-safe form: pull request and commit from the API, never from the report.

    What may not be published becomes an inconclusive check with the reason, and is raised: UsageError, or the
    forge's errors where the API does not say enough to know. No report (None) where the event only says that
    a look begins, or that nothing is to be told.
    """
    if around.idle:
        return None, Published(published=["nothing that the verdict rests on was edited"])
    api = around.api()
    try:
        target = _target(api, around, wanted)
    except GateError as error:
        around.summarise(notice.refusal_text(error))
        raise
    if target is None:
        return None, Published(published=["this run looked at nothing, or a newer one tells its verdict"])
    if around.begins:
        return None, _begun(api, around, target)
    if target.entry is not None:
        return _queued(api, around, wanted, target.entry, target)

    def publish_to(pulls: tuple[PullNow, ...]) -> tuple[Report, Published]:
        return _published(api, around, wanted, replace(target, pulls=pulls))

    return settled(api, target.pulls, publish_to)


def settled(
    api: Api,
    pulls: tuple[PullNow, ...],
    publish_to: Callable[[tuple[PullNow, ...]], tuple[Report, Published]],
) -> tuple[Report, Published]:
    """Publish, and again while what the verdict rests on moves under it, a few times at most."""
    for _ in range(_TRIES):
        before = _moving(api, pulls[0])
        result = publish_to(pulls)
        after = _moving(api, pulls[0])
        if before == after or after[0].head_sha != before[0].head_sha or not after[0].is_open:
            break
        pulls = tuple(pull(api, p.repo, p.number) for p in pulls)
    return result


def _moving(api: Api, target: PullNow) -> tuple[PullNow, tuple[tuple[int, str, str | None], ...] | None]:
    """What may change under a verdict while it is written: it is read again afterwards.

    Two jobs may publish at once; whoever writes last looks last, so a stale verdict never stays.
    """
    now = replace(pull(api, target.repo, target.number), base_sha="", assigned=())
    try:
        found = override_comments.commands(comments(api, target.repo, target.number))
    except ForgeError:
        return now, None
    return now, tuple((c.id, c.updated_at, c.body) for c in found)


def _published(
    api: Api, around: RunnerContext, wanted: PublishRequest, target: _Target
) -> tuple[Report, Published]:
    settings, about = None, target.pulls[0]
    try:
        raw = _raw(api, around, wanted, target)
        report = received(raw, head=about.head_sha)
        about = next((p for p in target.pulls if p.number == report.pull_request), about)
        if target.run is not None:
            began_for(api, target.run, about)
        settings = _settings(api, around, wanted, about.base_sha)
        numbered = wanted.report is None
        report = recomputed(bound(api, report, about, settings, numbered=numbered), settings)
        report = replace(report, doubts=doubts(api, about, report, wanted.workflow, named(around.name)))
    except GateError as error:
        refuse(api, around, _where(around, about), settings, error)
        raise
    return publish_pull(api, around, about, settings, ReceivedReport(report, raw), log=wanted.audit)


def _raw(api: Api, around: RunnerContext, wanted: PublishRequest, target: _Target) -> bytes:
    if wanted.report is not None:
        return read_report(wanted.report)
    run = target.run
    if run is None:
        raise UsageError(
            f"no finished run of {wanted.workflow} for {target.pulls[0].head_sha[:12]}",
            advice="Wait for it, or re-run it: its report is published when it ends.",
        )
    return member_of_run(api, around.repo, run.id, artifact=wanted.artifact, member=MEMBER, most=MAX_BYTES)


def _settings(api: Api, around: RunnerContext, wanted: PublishRequest, base: str) -> Settings:
    tree, names, where = chosen(wanted.chosen, ApiTree(api, around.repo, base), lambda: api)
    return load(base=tree, file=wanted.config, flags=wanted.flags, names=names, where=where)


def _queued(
    api: Api, around: RunnerContext, wanted: PublishRequest, entry: QueueEntry, target: _Target
) -> tuple[Report, Published]:
    settings, where = None, commit_or_pull(around, entry.head_sha, entry.branch, None)
    try:
        raw = _raw(api, around, wanted, target)
        report = bound_entry(api, received(raw, head=entry.head_sha), entry)
        settings = _settings(api, around, wanted, report.change.base or "")
        report = recomputed(report, settings)
        report = replace(report, doubts=entry_doubts(api, entry, wanted.workflow))
    except GateError as error:
        refuse(api, around, where, settings, error)
        raise
    return report, publish_commit(api, around, settings, report, branch=entry.branch, raw=raw)


def _begun(api: Api, around: RunnerContext, target: _Target) -> Published:
    """The check is in progress from the first second: an earlier verdict stands no longer."""
    entry = target.entry
    where = (
        commit_or_pull(around, entry.head_sha, entry.branch, None)
        if entry is not None
        else _where(around, target.pulls[0])
    )
    settings = GithubSettings()
    with contextlib.suppress(GateError):  # settings that nobody can read are told of at the end
        if target.pulls:
            base = ApiTree(api, around.repo, target.pulls[0].base_sha)
            settings = load(base=base).config.github
    made = notice.begin(api, where, settings, me=own_name(api, around, settings))
    return Published(published=["the check is in progress" if made else "the settings want no check"])


def own_name(api: Api, around: RunnerContext, settings: GithubSettings) -> str:
    """The login that we write under."""
    return around.me or own_login(api, settings.author)


def refuse(
    api: Api, around: RunnerContext, where: Where, settings: Settings | None, error: GateError
) -> None:
    """Say on the commit why nothing is published. What fails here must not hide the error itself."""
    around.summarise(notice.refusal_text(error))
    github = settings.config.github if settings is not None else GithubSettings()
    with contextlib.suppress(GateError):
        notice.refuse(api, where, github, error, me=own_name(api, around, github))


def publish_pull(
    api: Api,
    around: RunnerContext,
    target: PullNow,
    settings: Settings,
    received: ReceivedReport,
    *,
    log: Path | None = None,
    pressed: Sequence[Comment] = (),
) -> tuple[Report, Published]:
    """Judge the overrides, write the step summary, then tell GitHub. Returns the report after overrides.

    ``pressed``: buttons that people pressed, each as the comment that it stands for.
    """
    report = received.report
    me = own_name(api, around, settings.config.github)
    before = override.before_overrides(report)
    now = time.time()
    since = first_published(api, target, me, around.name)
    report = _overridden(api, target, settings, report, since, now, pressed)
    if log is not None:
        record(log, report, target, before, now=int(now))
    where = replace(_where(around, target), now=int(now), since=since)
    where = replace(where, buttons=where.buttons and settings.config.override.comments)
    basis = Basis(policy=judged_by(report, settings), before=before, raw=received.raw)
    outcome = publish_report(api, report, where, settings.config.github, basis, me=me)
    note = "" if not (outcome.refused or outcome.failed) else outcome.words()
    around.summarise(step_summary(report, blob_url=where.blob_url, note=_quoted(note)))
    return report, outcome


def first_published(api: Api, target: PullNow, me: str, name: str = "") -> int | None:
    """When our verdict on this head against this base branch was first published, seconds since 1970.

    An override must be younger: it is then about this commit, and a new push leaves it behind.
    """
    with contextlib.suppress(NotAllowedError, MissingError):
        there = own_check(api, target.repo, target.head_sha, me, named(name))
        stamp = there.stamp() if there is not None else None
        about = (target.number, target.base_ref, target.head_sha)
        if stamp is not None and (stamp.pull, stamp.base_ref, stamp.head) == about:
            return stamp.since
    with contextlib.suppress(NotAllowedError, MissingError, ValueError):
        ours = [
            s
            for s in statuses(api, target.repo, target.head_sha)
            if s.by(me, named(name)) and s.state != "pending"
        ]
        times = [int(datetime.fromisoformat(s.created_at).timestamp()) for s in ours]
        return min(times, default=None)
    return None


def _where(around: RunnerContext, target: PullNow) -> Where:
    where = at_pull(
        target, server=around.server, run=around.run, attempt=around.attempt, now=int(time.time())
    )
    return replace(where, buttons=bool(around.me), name=around.name)


def commit_or_pull(around: RunnerContext, sha: str, branch: str, target: PullNow | None) -> Where:
    """The head of a pull request, or (None) a commit of a branch: its name or a whole ref."""
    if target is not None:
        return _where(around, target)
    return Where(
        repo=around.repo,
        sha=sha,
        ref=branch if branch.startswith("refs/") or not branch else f"refs/heads/{branch}",
        pull=None,
        server=around.server,
        run=around.run,
        attempt=around.attempt,
        now=int(time.time()),
        name=around.name,
    )


def publish_commit(
    api: Api, around: RunnerContext, settings: Settings, report: Report, *, branch: str, raw: bytes
) -> Published:
    """The check (and SARIF) of a commit that was pushed or queued: without it no deployment could rest on it.

    ``branch``: a branch's name or a whole ref. Overrides in comments have no place here.
    """
    where = commit_or_pull(around, report.change.head or "", branch, None)
    report = override.apply(report, (), now=where.now)
    me = own_name(api, around, settings.config.github)
    basis = Basis(policy=judged_by(report, settings), raw=raw)
    outcome = publish_report(api, report, where, settings.config.github, basis, me=me)
    note = "" if not (outcome.refused or outcome.failed) else outcome.words()
    around.summarise(step_summary(report, blob_url=where.blob_url, note=_quoted(note)))
    return outcome


def _quoted(note: str) -> str:
    return "\n".join(f"> {markdown(line, 400)}\n>" for line in note.splitlines())


def _target(api: Api, around: RunnerContext, wanted: PublishRequest) -> _Target | None:
    """Asked of the API. None: this run looked at nothing, or a newer one looked at the same head."""
    if around.workflow_run is not None and wanted.pull is None:
        run = run_of(api, around.repo, around.workflow_run, wanted.workflow)
        if run.conclusion == "skipped":
            return None
        if run.event == "merge_group":
            return _Target(entry=entry_of_run(around.repo, run), run=run)
        pulls = pulls_of_run(api, around.repo, run)
        if not around.begins:
            newest = latest_run(api, around.repo, wanted.workflow, pulls[0])
            if newest is not None and newest.id > run.id:
                return None
        return _Target(pulls=pulls, run=run)
    number = wanted.pull or around.pull
    if number is None:
        raise UsageError(
            "which pull request? The event names none",
            advice="Run on pull_request, workflow_run or issue_comment, or give --pull NUMBER.",
        )
    found = pull(api, around.repo, number)
    if not found.is_open:
        raise UsageError(f"pull request {number} is closed: nothing to publish")
    needs_run = wanted.report is None and not around.begins
    return _Target(
        pulls=(found,),
        run=latest_run(api, around.repo, wanted.workflow, found) if needs_run else None,
    )


def _overridden(
    api: Api,
    target: PullNow,
    settings: Settings,
    report: Report,
    since: int | None,
    now: float,
    pressed: Sequence[Comment],
) -> Report:
    rules = settings.config.override
    asked: list[Override] = []
    refused: list[OverrideDecision] = []
    with contextlib.suppress(KeyError):
        asked += override.parse_file(ApiTree(api, target.repo, target.base_sha).read(override.FILE))
    if rules.comments:
        try:
            said = (*comments(api, target.repo, target.number), *pressed)
            found: tuple[Comment, ...] = override_comments.commands(said)
            first = datetime.fromtimestamp(since, UTC) if since is not None else None
            by_comment, refused = override_comments.requested_overrides(
                api, target, found, since=first, rules=rules
            )
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
