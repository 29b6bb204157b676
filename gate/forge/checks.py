"""The verdict on a commit: a check run where the token can write one, else a commit status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from gate.forge.interface import Api, MissingError, NotAllowedError, RefusedError, path, repository
from gate.forge.target import User

NAME: Final = "gate"
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


_STAMP: Final = msgspec.json.Decoder(Stamp)
"""Made before there are threads: see gate/serving.py."""


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
    text: str | None = None


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

    def stamp(self) -> Stamp | None:
        """The stamp in it, or None where there is none that can be read."""
        return unstamped(self.output.text or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What is to be told. ``title`` one line, ``summary`` Markdown (65,535 characters at most)."""

    sha: str
    conclusion: Literal["success", "neutral", "failure"]
    title: str
    summary: str
    stamp: Stamp
    run: str
    """Names the run that made it, so that an unanswered request can be found again."""
    annotations: tuple[Annotation, ...] = ()
    details_url: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """How the verdict was written. ``reason``: why it is not a check run."""

    how: Literal["check", "status"]
    url: str = ""
    reason: str = ""


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

    def by(self, login: str) -> bool:
        """Ours, by its name and by who made it."""
        return self.context == NAME and self.creator is not None and self.creator.login == login


def statuses(api: Api, repo: str, sha: str) -> list[Status]:
    """Every status of a commit, newest first."""
    return list(api.pages(path("repos", *repository(repo), "commits", sha, "statuses"), Status, most=1_000))


def tell(api: Api, repo: str, verdict: Verdict, *, want: Literal["auto", "check", "status"] = "auto") -> Told:
    """Write the verdict on its commit: check run, or commit status where the token may not.

    Annotations beyond the first 50 follow in further requests. Raises the errors of interface.py when
    neither can be written.
    """
    reason = ""
    if want in ("auto", "check"):
        try:
            return Told(how="check", url=_check(api, repo, verdict))
        except (NotAllowedError, MissingError) as error:
            if want == "check":
                raise
            reason = error.message
    return Told(how="status", url=_status(api, repo, verdict), reason=reason)


def _check(api: Api, repo: str, verdict: Verdict) -> str:
    where = path("repos", *repository(repo), "check-runs")
    batches = _batches(verdict.annotations)
    body: dict[str, object] = {
        "name": NAME,
        "head_sha": verdict.sha,
        "external_id": verdict.run,
        "status": "completed",
        "conclusion": verdict.conclusion,
        "output": _output(verdict, batches[0]),
    }
    if verdict.details_url:
        body["details_url"] = verdict.details_url
    made = api.send("POST", where, body, CheckRun, settled=lambda: _again(api, repo, verdict))
    for batch in batches[1:]:
        more = path("repos", *repository(repo), "check-runs", made.id)
        try:
            api.send("PATCH", more, {"output": _output(verdict, batch)}, type(None))
        except RefusedError:  # the verdict stands; a line outside the diff must not lose the rest
            continue
    return made.html_url or ""


def _again(api: Api, repo: str, verdict: Verdict) -> CheckRun | None:
    return next((c for c in check_runs(api, repo, verdict.sha) if c.external_id == verdict.run), None)


def _output(verdict: Verdict, annotations: Sequence[Annotation]) -> dict[str, object]:
    return {
        "title": verdict.title,
        "summary": verdict.summary,
        "text": stamped(verdict.stamp),
        "annotations": [msgspec.to_builtins(a) for a in annotations],
    }


def _batches(annotations: Sequence[Annotation]) -> list[Sequence[Annotation]]:
    kept = annotations[:MOST_ANNOTATIONS]
    return [kept[i : i + BATCH] for i in range(0, len(kept), BATCH)] or [()]


def _status(api: Api, repo: str, verdict: Verdict) -> str:
    """Statuses of one context replace each other, so this may be repeated."""
    body: dict[str, object] = {
        "state": _STATES[verdict.conclusion],
        "context": NAME,
        "description": verdict.title[:140],
    }
    if verdict.details_url:
        body["target_url"] = verdict.details_url
    where = path("repos", *repository(repo), "statuses", verdict.sha)
    api.send("POST", where, body, type(None), repeatable=True)
    return verdict.details_url or ""
