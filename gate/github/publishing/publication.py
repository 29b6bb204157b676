"""Tells one report on GitHub: each part by itself, so that one refusal does not silence the others."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import field, replace
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.escape import shorten, visible
from gate.github import checks, comment, integrations, review
from gate.github.interface import Api, ForgeError, NotAllowedError, RefusedError
from gate.github.publishing import suggestions
from gate.github.target import PullNow
from gate.model.finding import Finding, worst_first
from gate.model.report import Report
from gate.model.rule import Severity
from gate.model.score import Verdict
from gate.report import summary
from gate.report.json_v1 import JsonReporter
from gate.report.markdown import MOST_CHARACTERS, MarkdownReporter
from gate.report.published import rule_id
from gate.report.sarif import SarifReporter
from gate.settings import GithubSettings

_CONCLUSIONS: Final[dict[Verdict, Literal["success", "neutral", "failure"]]] = {
    Verdict.PASS: "success",
    Verdict.WARN: "neutral",
    Verdict.FAIL: "failure",
    Verdict.INCONCLUSIVE: "failure",
}
_LEVELS: Final[dict[Severity, Literal["notice", "warning", "failure"]]] = {
    Severity.CRITICAL: "failure",
    Severity.HIGH: "failure",
    Severity.MEDIUM: "warning",
    Severity.LOW: "notice",
}


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where things are told: a commit, and (None: it has none) the pull request whose head it is.

    ``ref`` as ``refs/heads/main``; ``server`` as GITHUB_SERVER_URL; ``run``, ``attempt`` name this run.
    """

    repo: str
    sha: str
    ref: str
    pull: PullNow | None
    server: str
    run: str
    attempt: str = "1"
    now: int = 0
    since: int | None = None
    """When a verdict on this head against this base branch was first published; None: not yet."""
    buttons: bool = False
    """We hear of buttons that are pressed on the check."""
    name: str = ""
    """Which of several looks at this commit it is; empty: the only one."""

    @property
    def check(self) -> str:
        """The check's name."""
        return checks.named(self.name)

    @property
    def blob_url(self) -> str:
        """Permalinks to the analysed commit start with this."""
        return f"{self.server}/{self.repo}/blob/{self.sha}"

    @property
    def run_url(self) -> str:
        """The page of this run; empty outside Actions."""
        return f"{self.server}/{self.repo}/actions/runs/{self.run}" if self.run.isdigit() else ""


def check_name(where: Where) -> str:
    """The check's external id: the same for everything about one head, base branch and pull request."""
    pull = where.pull
    about = f"{pull.number} {pull.base_ref}" if pull is not None else f"commit {where.ref}"
    return f"{checks.EXTERNAL_ID_PREFIX}{hashlib.sha256(about.encode()).hexdigest()[:16]}:{where.sha}"


def at_pull(
    pull: PullNow,
    *,
    server: str,
    run: str,
    attempt: str,
    now: int,
    since: int | None = None,
) -> Where:
    """The head of a pull request."""
    return Where(
        repo=pull.repo,
        sha=pull.head_sha,
        ref=f"refs/pull/{pull.number}/head",
        pull=pull,
        server=server,
        run=run,
        attempt=attempt,
        now=now,
        since=since,
    )


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What a verdict rests on. ``policy``: the digest to stamp (believe.judged_by). ``before``: the verdict
    before overrides, None where there can be none. ``raw``: the report.json told about (None: made anew).
    """

    policy: str
    before: Verdict | None = None
    raw: bytes | None = None


@dataclass
class Published:
    """What was told, in plain words. ``refused``: the token may not; ``failed``: GitHub did not answer."""

    published: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    comment_url: str = ""
    has_check: bool = False
    """Findings are in the annotations of a check run."""

    def words(self) -> str:
        """One line each, for the log and the step summary."""
        lines = [*self.published]
        if self.refused:
            lines.append(
                "The token may not write everything; what is missing is in the step summary and report.json:"
            )
        lines += [f"not told: {line}" for line in (*self.refused, *self.failed)]
        return "\n".join(lines)


def publish_report(
    api: Api,
    report: Report,
    where: Where,
    settings: GithubSettings,
    basis: Basis,
    *,
    me: str,
) -> Published:
    """Write check, comment and what else the settings want. Raises nothing for what GitHub refuses.

    A commit without a pull request gets its check and its findings, nothing of a conversation.
    """
    outcome = Published()
    text = MarkdownReporter(blob_url=where.blob_url).render(report)
    raw = basis.raw if basis.raw is not None else JsonReporter().render(report).encode()
    pull, repo = where.pull, where.repo
    if settings.check != "never":
        want = settings.check
        verdict = _verdict(report, where, text, replace(basis, raw=raw), me)
        _try(outcome, "check", lambda: _check(api, outcome, repo, verdict, want))
    if settings.sarif and where.ref:
        log = SarifReporter(category=where.name).render(report)
        _try(outcome, "SARIF", lambda: _sarif(api, repo, log, where.sha, where.ref))
    if pull is not None:
        fixed: list[suggestions.Fixed] = []
        if settings.suggestions and settings.comment != "never" and report.verdict is not Verdict.PASS:
            _try(outcome, "suggestions", lambda: _suggest(api, report, pull, me, fixed))
        more = suggestions.section(fixed)
        text = text + more if len((text + more).encode()) <= MOST_CHARACTERS else text
        _converse(api, report, where, settings, outcome, text, me)
    return outcome


def _suggest(api: Api, report: Report, pull: PullNow, me: str, fixed: list[suggestions.Fixed]) -> str:
    """Fills ``fixed``, also where the review is refused: the comment can still show them."""
    fixed += suggestions.fixes(api, pull, report)
    if not fixed:
        return ""
    try:
        made = review.suggest(api, pull, suggestions.suggestions(fixed), me=me)
    except (
        RefusedError
    ) as error:  # a line that GitHub does not show any more; no reason to call the run failed
        return f"suggestions only in the comment ({error.message})"
    return f"{made} new suggestions of {len(fixed)} safe fixes"


def _converse(
    api: Api, report: Report, where: Where, settings: GithubSettings, outcome: Published, text: str, me: str
) -> None:
    """What belongs to a pull request: comment, labels, reviewers."""
    pull = where.pull
    if pull is None:
        return
    if settings.comment != "never":
        create = settings.comment == "always" or report.verdict is not Verdict.PASS
        _try(outcome, "comment", lambda: _comment(api, outcome, pull, text, me, where.name, create=create))
    is_ai = any(commit.is_ai for commit in report.commits)
    if settings.labels:
        blocked = report.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
        wanted = {integrations.AI_LABEL: is_ai, integrations.BLOCKED_LABEL: blocked}
        _try(outcome, "labels", lambda: _labels(api, pull.repo, pull.number, wanted))
    if settings.reviewers and is_ai and report.verdict is not Verdict.PASS:
        _try(outcome, "reviewers", lambda: _reviewers(api, pull, settings.reviewers))


def _try(outcome: Published, what: str, act: Callable[[], str]) -> None:
    try:
        if words := act():
            outcome.published.append(words)
    except NotAllowedError as error:
        outcome.refused.append(f"{what}: {error.message}")
    except ForgeError as error:
        outcome.failed.append(f"{what}: {error.message}")


def _check(
    api: Api, outcome: Published, repo: str, verdict: checks.Verdict, want: Literal["auto", "check", "status"]
) -> str:
    told = checks.publish_verdict(api, repo, verdict, want=want)
    outcome.has_check = told.how == "check"
    because = f" (no check run: {told.reason})" if told.reason else ""
    return f"{'check run' if told.how == 'check' else 'commit status'} written{because}"


def _comment(
    api: Api, outcome: Published, pull: PullNow, text: str, me: str, name: str, *, create: bool
) -> str:
    told = comment.upsert_comment(api, pull.repo, pull.number, text, me=me, create=create, name=name)
    outcome.comment_url = told.url
    return f"comment {told.what}" + (f": {told.url}" if told.url else "")


def _sarif(api: Api, repo: str, log: str, sha: str, ref: str) -> str:
    return f"SARIF handed to code scanning ({integrations.upload_sarif(api, repo, log, sha=sha, ref=ref)})"


def _labels(api: Api, repo: str, number: int, wanted: dict[str, bool]) -> str:
    integrations.set_labels(api, repo, number, wanted)
    return "labels set: " + (", ".join(name for name, want in wanted.items() if want) or "none")


def _reviewers(api: Api, pull: PullNow, names: tuple[str, ...]) -> str:
    integrations.request_reviewers(api, pull.repo, pull.number, names, author=pull.author)
    return "reviewers asked"


def _verdict(report: Report, where: Where, text: str, basis: Basis, me: str) -> checks.Verdict:
    before = basis.before
    overridden = before.value if before in (Verdict.FAIL, Verdict.INCONCLUSIVE) else None
    accepted = [o.override.until for o in report.overrides if o.accepted]
    stamp = checks.Stamp(
        verdict=report.verdict.value,
        score=report.score.value,
        head=where.sha,
        base=report.change.base,
        report=hashlib.sha256(basis.raw or b"").hexdigest(),
        policy=basis.policy,
        gate=report.gate_version,
        at=where.now,
        overridden=overridden if before is not report.verdict else None,
        overrides_until=min((until for until in accepted if until is not None), default=None),
        pull=where.pull.number if where.pull else None,
        base_ref=where.pull.base_ref if where.pull else None,
        merge_base=report.change.merge_base,
        tree=report.tree,
        since=where.since or where.now,
    )
    word = summary.verdict_words(report)[0]
    return checks.Verdict(
        sha=where.sha,
        conclusion=_CONCLUSIONS[report.verdict],
        title=f"{word}: score {report.score.value} of 100",
        summary=text,
        stamp=stamp,
        run=check_name(where),
        name=where.check,
        me=me,
        annotations=tuple(_annotations(report)),
        details_url=where.run_url or None,
        buttons=_buttons(report) if where.buttons else None,
    )


def _buttons(report: Report) -> tuple[checks.Button, ...]:
    """An override helps where something blocks, and neither doubts nor a hard block stand behind it."""
    blocks = report.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
    final = bool(report.doubts) or any(finding.hard_block for finding in report.findings)
    return (checks.OVERRIDE,) if blocks and not final else ()


def _annotations(report: Report) -> list[checks.Annotation]:
    """The worst findings on their lines; a path that is not UTF-8 or climbs has no place on GitHub."""
    out = []
    for finding in worst_first(report.findings):
        place = finding.primary
        try:
            os.fsencode(place.path).decode()
        except UnicodeDecodeError:
            continue
        if not summary.stays_inside(place.path):
            continue
        line = place.line or 1
        out.append(
            checks.Annotation(
                path=place.path,
                start_line=line,
                end_line=place.end_line or line,
                annotation_level=_LEVELS[finding.severity],
                message=_message(finding),
                title=f"gate {rule_id(finding.rule_id)} ({finding.severity.value})"[:255],
            )
        )
        if len(out) == checks.MOST_ANNOTATIONS:
            break
    return out


def _message(finding: Finding) -> str:
    evidence = [
        f"{visible(key)}: {visible(value[:300])}" for key, value in list(finding.evidence.items())[:3]
    ]
    return shorten("\n".join([visible(finding.message), *evidence]), 2_000)
