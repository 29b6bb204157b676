"""The App runs checks itself: what each webhook asks for becomes jobs, and each job one step (docs/serve.md).

    begin (the check is in progress) -> look (minutes, workers of its own) -> tell
    a comment or a button -> judge (the report of the last look, overrides as they are now)

Each job may be done twice, as whoever did it may have died before it was noted: what is told is looked for
before it is told. Jobs of one pull request have one lock, but for looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol

import msgspec

from gate.errors import GateError, UsageError
from gate.github.comment import Comment
from gate.github.interface import Api, ForgeError, MissingError, NotAllowedError, path, repository
from gate.github.publishing import own_look
from gate.github.publishing.own_look import SettingsAt, settings_at
from gate.github.publishing.publication import Published
from gate.github.publishing.queue import PREFIX, QueueEntry
from gate.github.publishing.runner_context import RunnerContext
from gate.github.target import PullNow, User, pull, pulls_at
from gate.serve.interface import BEGIN, JUDGE, LOOK, TELL, Delivery, Done, HopelessError, Later, Queue
from gate.serve.payload import Payload
from gate.serve.tokens import CHECKS, FETCH, Tokens

_TRIES: Final = 3
"""How often a look that comes to nothing is tried before the check says so."""
_LOOKED_AT: Final = frozenset({"opened", "synchronize", "reopened"})


class Look(Protocol):
    """Looks at a change; see gate.serve.looking.Looker."""

    def look(self, repo: str, token: str, event: bytes) -> bytes:
        """report.json about the commits that the event names."""
        ...


class _Press(msgspec.Struct, frozen=True, kw_only=True):
    login: str
    type: str
    at: float


class _Job(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a job is about. ``first``: the delivery that asked; ``pull`` None: an entry of a merge queue."""

    first: str
    installation: int
    repo: str
    head: str
    base_ref: str
    pull: int | None = None
    base: str = ""
    branch: str = ""
    report: bytes = b""
    problem: tuple[str, str] | None = None
    """Why the look came to nothing, and the way out."""
    press: _Press | None = None

    @property
    def lock(self) -> str:
        """Of one pull request, or of one entry."""
        return f"{self.repo.lower()}#{self.pull or self.head}"

    @property
    def key(self) -> str:
        """Under which its report is kept."""
        return f"report {self.repo.lower()} {self.pull or self.branch} {self.base_ref} {self.head}"


_JOB: Final = msgspec.msgpack.Decoder(_Job)
_PRESS: Final = msgspec.msgpack.Decoder(_Press)
"""Made known before there are threads: see payload.py."""


class NotToldError(Exception):
    """GitHub did not take all of it: told again later."""


class Checks:
    """``server``: as GITHUB_SERVER_URL. ``settings_of``: default, those of gate.toml at base."""

    def __init__(
        self,
        queue: Queue,
        tokens: Tokens,
        looker: Look,
        *,
        server: str,
        settings_of: SettingsAt = settings_at,
    ) -> None:
        self._queue, self._tokens, self._looker = queue, tokens, looker
        self._server, self._settings_of = server, settings_of

    # ---- what a webhook asks for

    def asked(self, delivery: Delivery, told: Payload) -> int:
        """Queue what this webhook asks for; returns how many jobs. Raises the forge's errors."""
        jobs = list(self._jobs(delivery, told))
        for kind, job in jobs:
            self._put(kind, job, delivery.received)
        return len(jobs)

    def _jobs(self, delivery: Delivery, told: Payload) -> list[tuple[str, _Job]]:
        event, action = delivery.event, told.action
        if event == "pull_request" and told.pull_request is not None:
            retargeted = action == "edited" and told.changes is not None and told.changes.base is not None
            if action in _LOOKED_AT or retargeted:
                return [(BEGIN, self._job(delivery, told, self._pull(told, told.pull_request.number)))]
        elif event == "merge_group" and action == "checks_requested" and told.merge_group is not None:
            return [(BEGIN, _entry_job(delivery, told))]
        elif event == "issue_comment" and told.commands and told.issue is not None:
            return [(JUDGE, self._job(delivery, told, self._pull(told, told.issue.number)))]
        elif event in ("check_run", "check_suite"):
            return self._pressed(delivery, told)
        return []

    def _pressed(self, delivery: Delivery, told: Payload) -> list[tuple[str, _Job]]:
        """*Re-run* and our button, on a check of ours alone."""
        about = told.check_run or told.check_suite
        if about is None or about.app is None or about.app.id != self._tokens.app_id:
            return []
        button = told.requested_action.identifier if told.requested_action is not None else ""
        overrides = told.action == "requested_action" and button == "override" and told.sender is not None
        if not overrides and told.action != "rerequested":
            return []
        press = None
        if overrides and told.sender is not None:
            press = _Press(login=told.sender.login, type=told.sender.type, at=delivery.received)
        found = pulls_at(self._api(told), told.repository.full_name, about.head_sha)
        kind = JUDGE if overrides else BEGIN
        return [(kind, self._job(delivery, told, one, press)) for one in found]

    def _pull(self, told: Payload, number: int) -> PullNow:
        return pull(self._api(told), told.repository.full_name, number)

    def _api(self, told: Payload) -> Api:
        return self._tokens.api(told.installation.id, told.repository.full_name, CHECKS)

    def _job(self, delivery: Delivery, told: Payload, about: PullNow, press: _Press | None = None) -> _Job:
        return _Job(
            first=delivery.id,
            installation=told.installation.id,
            repo=told.repository.full_name,
            head=about.head_sha,
            base_ref=about.base_ref,
            pull=about.number,
            press=press,
        )

    def _put(self, kind: str, job: _Job, now: float) -> None:
        lock = "" if kind == LOOK else job.lock
        self._queue.accept(_name(kind, job), kind, msgspec.msgpack.encode(job), now, lock=lock).result()

    # ---- what a job does

    def work(self, delivery: Delivery) -> Done | Later:
        """One job, as a gate.serve.interface.Handle."""
        try:
            job = _JOB.decode(delivery.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise HopelessError("not a job of this version") from error
        if delivery.event == JUDGE and job.press is None and self._judged_since(job, delivery.received):
            return Done(note="a later judgement has read this comment")  # a flood of comments is judged once
        api = self._tokens.api(job.installation, job.repo, CHECKS)
        try:
            about = _about(api, job)
        except MissingError:
            about = None
        if about is None:
            return Done(note="closed, pushed or retargeted meanwhile: what came after has its own job")
        step: Callable[[Api, Delivery, _Job, PullNow | QueueEntry], str] = {
            BEGIN: self._begin,
            LOOK: self._look,
            TELL: self._tell,
            JUDGE: self._judge,
        }[delivery.event]
        return Done(note=step(api, delivery, job, about))

    def _judged_since(self, job: _Job, received: float) -> bool:
        return any(float(at) > received for at in self._queue.kept(f"judged {job.key}"))

    def _around(self, job: _Job) -> RunnerContext:
        return RunnerContext(
            repo=job.repo, token=None, api_url="", server=self._server, run="app", attempt="1", pull=job.pull,
            workflow_run=None, summary=None, output=None, me=self._tokens.login(),
        )  # fmt: skip

    def _begin(self, api: Api, delivery: Delivery, job: _Job, about: PullNow | QueueEntry) -> str:
        if self._queue.known(_name(LOOK, job)):
            return "begun before"
        try:
            own_look.begin(api, self._around(job), about, self._settings_of)
        except NotAllowedError as error:
            raise HopelessError(f"the App may not write checks here: {error.message}") from error
        self._put(LOOK, job, delivery.received)
        return "in progress"

    def _look(self, api: Api, delivery: Delivery, job: _Job, about: PullNow | QueueEntry) -> str:
        if self._queue.known(_name(TELL, job)):
            return "looked at before"
        try:
            token = self._tokens.token(job.installation, job.repo, FETCH)
            raw, problem = self._looker.look(job.repo, token, _event(api, job, about)), None
        except ForgeError:
            raise
        except (GateError, OSError, ValueError) as error:  # a full disk, a text that is none: never silence
            if not isinstance(error, UsageError) and delivery.attempts + 1 < _TRIES:
                raise
            raw, problem = b"", _why(error)
        told = msgspec.structs.replace(job, report=raw, problem=problem)
        self._put(TELL, told, delivery.received)
        return "looked at" if problem is None else problem[0]

    def _tell(self, api: Api, _delivery: Delivery, job: _Job, about: PullNow | QueueEntry) -> str:
        if job.problem is not None:
            why = UsageError(job.problem[0], advice=job.problem[1])
            own_look.could_not(api, self._around(job), about, why)
            return "inconclusive"
        if isinstance(about, PullNow):
            self._queue.keep(job.key, job.report, time.time())
        return self._publish(api, job, about, job.report)

    def _judge(self, api: Api, delivery: Delivery, job: _Job, about: PullNow | QueueEntry) -> str:
        if job.press is not None:
            name = f"press {job.key} {job.press.login}"
            self._queue.keep(name, msgspec.msgpack.encode(job.press), time.time())
        started, reports = time.time(), self._queue.kept(job.key)
        if not reports:
            self._put(BEGIN, job, delivery.received)
            return "no report is kept: looked at again"
        said = self._publish(api, job, about, reports[0])
        self._queue.keep(f"judged {job.key}", str(started).encode(), started)  # once it is told, not before
        return said

    def _publish(self, api: Api, job: _Job, about: PullNow | QueueEntry, raw: bytes) -> str:
        around = self._around(job)
        try:
            if isinstance(about, PullNow):
                pressed = [
                    _as_comment(_PRESS.decode(one), job.head) for one in self._queue.kept(f"press {job.key} ")
                ]
                report, outcome = own_look.publish(
                    api, around, about, raw, self._settings_of, pressed=pressed
                )
            else:
                report, outcome = own_look.publish_entry(api, around, about, raw, self._settings_of)
        except UsageError as error:
            return f"not published: {error.message}"
        _told(outcome)
        return f"{report.verdict.value}: {outcome.words()}"


def _why(error: GateError | OSError | ValueError) -> tuple[str, str]:
    if isinstance(error, GateError):
        return error.message, error.advice
    return f"the look failed on the server ({type(error).__name__})", "Run it again; its operator sees why."


def _told(outcome: Published) -> None:
    if outcome.failed:
        raise NotToldError("; ".join(outcome.failed))


def _name(kind: str, job: _Job) -> str:
    return f"{kind} {job.first} {job.pull or job.head}"


def _entry_job(delivery: Delivery, told: Payload) -> _Job:
    group = told.merge_group
    branch = group.head_ref.removeprefix("refs/heads/") if group is not None else ""
    if group is None or not branch.startswith(PREFIX):
        raise HopelessError("not an entry of a merge queue")
    return _Job(
        first=delivery.id,
        installation=told.installation.id,
        repo=told.repository.full_name,
        head=group.head_sha,
        base_ref=group.base_ref.removeprefix("refs/heads/"),
        base=group.base_sha,
        branch=branch,
    )


def _about(api: Api, job: _Job) -> PullNow | QueueEntry | None:
    """What the job is about as it is now; None where that is something else than it was."""
    if job.pull is None:
        return QueueEntry(repo=job.repo, head_sha=job.head, branch=job.branch, base_ref=job.base_ref)
    now = pull(api, job.repo, job.pull)
    same = (now.is_open, now.head_sha, now.base_ref) == (True, job.head, job.base_ref)
    return now if same else None


def _event(api: Api, job: _Job, about: PullNow | QueueEntry) -> bytes:
    """The payload that `gate check --event` reads, made of what the API says now."""
    if isinstance(about, QueueEntry):
        group = {"base_sha": job.base, "head_sha": job.head, "head_ref": job.branch}
        return msgspec.json.encode({"merge_group": group})
    told = api.get(path("repos", *repository(job.repo), "pulls", about.number), dict)
    return msgspec.json.encode({"pull_request": told})


def _as_comment(press: _Press, head: str) -> Comment:
    """A button is the comment that one would have written in its place; every rule of those holds."""
    at = datetime.fromtimestamp(press.at, UTC).isoformat()
    reason = f"Pressed Override on the check of this commit, without a word more ({press.login})."
    return Comment(
        id=int(press.at * 1000),
        body=f"/gate override all sha: {head} reason: {reason}",
        user=User(login=press.login, type=press.type),
        created_at=at,
        updated_at=at,
        author_association="COLLABORATOR",
    )
