"""The verdict on a commit: a check run where the token can write one, else a commit status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from gate.dataclass import dataclass
from gate.github.interface import (
    Api,
    MissingError,
    NotAllowedError,
    RefusedError,
    path,
    repository,
)
from gate.github.target import User

NAME: Final = "gate"
EXTERNAL_ID_PREFIX: Final = "gate:"
"""What every external id of ours begins with; a job's own check run has another."""
BATCH: Final = 50
"""Annotations in one request (GitHub's limit)."""
MOST_ANNOTATIONS: Final = 500
_FENCE: Final = "```json\n"
_STATES: Final = {"success": "success", "neutral": "success", "failure": "failure"}


class Stamp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the check says to programs (in ``output.text``): the verdict and what it was made of.

    ``head``, ``base``: commits; ``report``, ``policy``: sha256 of report.json and of the policy in force;
    ``at``: seconds since 1970; ``overridden``: the verdict before overrides, or None.
    """

    version: Literal[1] = 1
    verdict: Literal["pass", "warn", "fail", "inconclusive"]
    score: int
    head: str
    base: str | None
    report: str
    policy: str
    gate: str
    at: int
    overridden: Literal["fail", "inconclusive", "warn"] | None = None
    overrides_until: int | None = None
    """When the first override it rests on runs out, seconds since 1970."""
    pull: int | None = None
    base_ref: str | None = None
    merge_base: str | None = None
    tree: str | None = None
    since: int | None = None
    """When a verdict on this head against this base branch was first published, seconds since 1970."""


_STAMP: Final = msgspec.json.Decoder(Stamp)
"""Made before there are threads: see gate/serve/webhooks.py."""


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """One remark on lines of the head tree; texts are already safe to show."""

    path: str
    start_line: int
    end_line: int
    annotation_level: Literal["notice", "warning", "failure"]
    message: str
    title: str


class App(msgspec.Struct):
    """Who made a check run. GitHub Actions has the slug ``github-actions``."""

    id: int
    slug: str = ""


class _Output(msgspec.Struct):
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations_count: int = 0


class CheckRun(msgspec.Struct):
    """A check run as GitHub returns it."""

    id: int
    name: str
    head_sha: str
    status: str
    conclusion: str | None = None
    external_id: str | None = None
    html_url: str | None = None
    completed_at: str | None = None
    app: App | None = None
    output: _Output = msgspec.field(default_factory=_Output)

    def by(self, login: str) -> bool:
        """Written by us: the app that this login is the bot of, in the form that we give it."""
        mine = self.app is not None and f"{self.app.slug}[bot]" == login
        return mine and (self.external_id or "").startswith(EXTERNAL_ID_PREFIX)

    def stamp(self) -> Stamp | None:
        """The stamp in it, or None where there is none that can be read."""
        return unstamped(self.output.text or "")


class Button(msgspec.Struct, frozen=True, kw_only=True):
    """A button on the check's page (GitHub: at most 20, 40 and 20 characters, three buttons)."""

    label: str
    description: str
    identifier: str


OVERRIDE: Final = Button(
    label="Override", description="Let this stand; you answer for it", identifier="override"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What is to be told. ``title`` one line, ``summary`` Markdown (65,535 characters at most)."""

    sha: str
    conclusion: Literal["success", "neutral", "failure"]
    title: str
    summary: str
    stamp: Stamp | None
    """None: nothing was judged, the check only says why."""
    run: str
    """Names what it is about: head, base branch and pull request. Begins with MARK."""
    name: str = NAME
    """The check's name, or the status's context."""
    me: str = ""
    """The login that we write under; the check that is there already under it is updated."""
    annotations: tuple[Annotation, ...] = ()
    details_url: str | None = None
    buttons: tuple[Button, ...] | None = None
    """None: whoever writes this hears of no button (a workflow's job does not)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedVerdict:
    """How the verdict was written. ``reason``: why it is not a check run."""

    how: Literal["check", "status"]
    url: str = ""
    reason: str = ""


def named(which: str) -> str:
    """The check's name where several looks at one commit each have theirs; empty: the only one."""
    return f"{NAME} ({which})" if which else NAME


def stamped(stamp: Stamp) -> str:
    """A stamp as Markdown: one fenced JSON line."""
    return f"{_FENCE}{msgspec.json.encode(stamp).decode()}\n```\n"


def unstamped(text: str) -> Stamp | None:
    """The stamp out of :func:`stamped`'s text; strict: anything else is None."""
    if not text.startswith(_FENCE) or not text.rstrip().endswith("\n```"):
        return None
    try:
        return _STAMP.decode(text.removeprefix(_FENCE).rstrip().removesuffix("```"))
    except msgspec.MsgspecError:
        return None


def check_runs(api: Api, repo: str, sha: str, name: str = NAME) -> list[CheckRun]:
    """Check runs of this name on a commit, all apps, newest first. Judge ``app`` before you believe one."""
    query = {"check_name": name, "filter": "all"}
    where = path("repos", *repository(repo), "commits", sha, "check-runs")
    return sorted(api.pages(where, CheckRun, query, key="check_runs"), key=lambda c: -c.id)


class Status(msgspec.Struct):
    """A commit status as GitHub returns it."""

    context: str
    state: str
    created_at: str
    creator: User | None = None

    def by(self, login: str, name: str = NAME) -> bool:
        """Ours, by its name and by who made it."""
        return self.context == name and self.creator is not None and self.creator.login == login


def statuses(api: Api, repo: str, sha: str) -> list[Status]:
    """Every status of a commit, newest first."""
    return list(api.pages(path("repos", *repository(repo), "commits", sha, "statuses"), Status, most=1_000))


def publish_verdict(
    api: Api, repo: str, verdict: Verdict, *, want: Literal["auto", "check", "status"] = "auto"
) -> PublishedVerdict:
    """Write the verdict on its commit: check run, or commit status where the token may not.

    Annotations beyond the first 50 follow in further requests. Raises the errors of interface.py when
    neither can be written.
    """
    reason = ""
    if want in ("auto", "check"):
        try:
            return PublishedVerdict(how="check", url=_check(api, repo, verdict))
        except (NotAllowedError, MissingError) as error:
            if want == "check":
                raise
            reason = error.message
    return PublishedVerdict(how="status", url=_status(api, repo, verdict), reason=reason)


def own_check(api: Api, repo: str, sha: str, me: str, name: str = NAME) -> CheckRun | None:
    """The newest check run of ours on a commit, finished or not."""
    return next((c for c in check_runs(api, repo, sha, name) if c.by(me)), None)


def begin(
    api: Api, repo: str, verdict: Verdict, *, want: Literal["auto", "check", "status"] = "auto"
) -> PublishedVerdict:
    """Say that a verdict is being made: an earlier one on this commit no longer stands from now on.

    ``verdict`` gives commit, title, summary and name; its conclusion is not told. Raises as tell does.
    """
    reason = ""
    if want in ("auto", "check"):
        try:
            there = own_check(api, repo, verdict.sha, verdict.me, verdict.name)
            stamp = there.output.text if there is not None else None
            body: dict[str, object] = {
                "status": "in_progress",
                "output": _output(verdict, (), stamp or ""),
            }
            return PublishedVerdict(how="check", url=_put(api, repo, verdict, body, there).html_url or "")
        except (NotAllowedError, MissingError) as error:
            if want == "check":
                raise
            reason = error.message
    return PublishedVerdict(how="status", url=_status(api, repo, verdict, "pending"), reason=reason)


def _check(api: Api, repo: str, verdict: Verdict) -> str:
    there = own_check(api, repo, verdict.sha, verdict.me, verdict.name)
    known = _annotated(api, repo, there) if there is not None and there.output.annotations_count else set()
    new = [a for a in verdict.annotations[:MOST_ANNOTATIONS] if _place(a) not in known]
    batches = _batches(new)
    kept = (there.output.text or "") if there is not None else ""
    text = kept if verdict.stamp is None else stamped(verdict.stamp)
    body: dict[str, object] = {
        "status": "completed",
        "conclusion": verdict.conclusion,
        "output": _output(verdict, batches[0], text),
    }
    if there is not None and not new and _says(there, verdict):
        return there.html_url or ""
    made = _put(api, repo, verdict, body, there)
    for batch in batches[1:]:
        more = path("repos", *repository(repo), "check-runs", made.id)
        try:
            api.send("PATCH", more, {"output": _output(verdict, batch, text)}, type(None))
        except RefusedError:  # the verdict stands; a line outside the diff must not lose the rest
            continue
    return made.html_url or ""


def _says(there: CheckRun, verdict: Verdict) -> bool:
    """The check says this already, but for when it was said: telling it again would change nothing."""
    told, now = there.stamp(), verdict.stamp
    if told is None or now is None or there.external_id != verdict.run or there.status != "completed":
        return False
    same = (there.conclusion, there.output.title) == (verdict.conclusion, verdict.title)
    text = (there.output.summary or "").strip() == verdict.summary.strip()
    return same and text and msgspec.structs.replace(told, at=now.at) == now


def _put(api: Api, repo: str, verdict: Verdict, body: dict[str, object], there: CheckRun | None) -> CheckRun:
    """Update the check that is there, or make one. One that GitHub does not open again is left behind."""
    body = {"external_id": verdict.run, "name": verdict.name, **body}
    if verdict.details_url:
        body["details_url"] = verdict.details_url
    if verdict.buttons is not None:
        body["actions"] = [msgspec.to_builtins(button) for button in verdict.buttons]
    where = path("repos", *repository(repo), "check-runs")
    if there is not None:
        mine = path("repos", *repository(repo), "check-runs", there.id)
        changed = api.send("PATCH", mine, body, CheckRun)
        if changed.status == body["status"]:
            return changed
    new = {**body, "head_sha": verdict.sha}
    return api.send("POST", where, new, CheckRun, settled=lambda: _again(api, repo, verdict))


def _again(api: Api, repo: str, verdict: Verdict) -> CheckRun | None:
    there = own_check(api, repo, verdict.sha, verdict.me, verdict.name)
    return there if there is not None and there.external_id == verdict.run else None


class _Placed(msgspec.Struct):
    path: str
    start_line: int
    message: str | None = None
    title: str | None = None


def _annotated(api: Api, repo: str, there: CheckRun) -> set[tuple[str, int, str, str]]:
    """What a check run says already: GitHub adds to its annotations, it never replaces them."""
    where = path("repos", *repository(repo), "check-runs", there.id, "annotations")
    return {
        (a.path, a.start_line, a.title or "", a.message or "")
        for a in api.pages(where, _Placed, most=2 * MOST_ANNOTATIONS)
    }


def _place(annotation: Annotation) -> tuple[str, int, str, str]:
    return annotation.path, annotation.start_line, annotation.title, annotation.message


def _output(verdict: Verdict, annotations: Sequence[Annotation], text: str) -> dict[str, object]:
    told: dict[str, object] = {"title": verdict.title, "summary": verdict.summary}
    if text:
        told["text"] = text
    if annotations:
        told["annotations"] = [msgspec.to_builtins(a) for a in annotations]
    return told


def _batches(annotations: Sequence[Annotation]) -> list[Sequence[Annotation]]:
    return [annotations[i : i + BATCH] for i in range(0, len(annotations), BATCH)] or [()]


def _status(api: Api, repo: str, verdict: Verdict, state: str = "") -> str:
    """Statuses of one context replace each other, so this may be repeated."""
    body: dict[str, object] = {
        "state": state or _STATES[verdict.conclusion],
        "context": verdict.name,
        "description": verdict.title[:140],
    }
    if verdict.details_url:
        body["target_url"] = verdict.details_url
    where = path("repos", *repository(repo), "statuses", verdict.sha)
    api.send("POST", where, body, type(None), repeatable=True)
    return verdict.details_url or ""
