"""Joins serve, forge and deploy: what each webhook means."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec

from gate.deploy.answer import decide_with_patience
from gate.deploy.decide import Decision
from gate.errors import UsageError
from gate.escape import markdown
from gate.github.interface import Api, MissingError, RefusedError, path, repository
from gate.github.target import pull
from gate.regex import regex
from gate.serve.checks import Checks
from gate.serve.interface import Delivery, Done, HopelessError, Later, Queue
from gate.serve.payload import Payload, payload
from gate.settings import Config

_CALLBACK: Final = regex(r"/repos/([^/]+/[^/]+)/actions/runs/([0-9]{1,20})/deployment_protection_rule")
_LINK: Final = regex(r"https://[A-Za-z0-9./#?=&:_-]{1,500}")
_FULL: Final = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOOK_AGAIN: Final = 20.0


# Made known before there are threads: see payload.py.
_SETTINGS: Final = msgspec.json.Decoder(Config)


class Answers:
    """What to do about each delivery. ``api`` makes a client for an installation and a repository.

    ``checks``: None where this App runs none.
    """

    def __init__(self, queue: Queue, api: Callable[[int, str], Api], checks: Checks | None = None) -> None:
        self._queue, self._api, self._checks = queue, api, checks

    def handle(self, delivery: Delivery) -> Done | Later:
        """Answer one delivery, as a gate.serve.worker.Handle: safe to repeat, as reviews of a decided
        deployment are refused.
        """
        if delivery.event.startswith("gate."):
            if self._checks is None:
                raise HopelessError("this server runs no checks: start it with --checks")
            return self._checks.work(delivery)
        told = payload(delivery)
        if delivery.event == "deployment_protection_rule":
            return self._deployment(delivery, told)
        asked = self._checks.asked(delivery, told) if self._checks is not None else 0
        commits = self._commits(told)
        woken = self._queue.wake([c for c in commits if _FULL.fullmatch(c)], time.time())
        return Done(note=f"{asked} jobs for checks, {woken} deployments looked at again")

    def _commits(self, told: Payload) -> list[str]:
        """Commits about which this webhook may have changed something."""
        if told.check_suite is not None:
            return [told.check_suite.head_sha]
        if told.pull_request is not None:
            return [told.pull_request.head.sha, told.pull_request.merge_commit_sha or ""]
        if told.commands and told.issue is not None:
            repo = told.repository.full_name
            try:
                return [pull(self._api(told.installation.id, repo), repo, told.issue.number).head_sha]
            except MissingError:
                return []
        return []

    def _deployment(self, delivery: Delivery, told: Payload) -> Done | Later:
        if told.action != "requested":
            return Done(note="nothing asked")
        repo = told.repository.full_name
        callback = _CALLBACK.search(told.deployment_callback_url)
        sha = told.deployment.sha if told.deployment else told.sha
        if callback is None or callback[1].lower() != repo.lower() or not _FULL.fullmatch(sha):
            raise HopelessError("the payload does not say which run and commit are asked about")
        api = self._api(told.installation.id, repo)
        try:
            found, patience = decide_with_patience(api, repo, sha, told.environment)
        except UsageError as error:  # settings nobody can read allow nothing
            found, patience = Decision(allowed=False, reason=error.message), 0.0
        left = delivery.received + patience - time.time()
        if found.waiting and left > 0:
            return Later(note=found.reason, seconds=min(_LOOK_AGAIN, left), sha=sha)
        return self._review(api, repo, int(callback[2]), told.environment, found)

    def _review(self, api: Api, repo: str, run: int, environment: str, found: Decision) -> Done:
        word = "approved" if found.allowed else "rejected"
        link = (
            f" ([verdict]({found.link}))"
            if found.link.startswith("https://") and ")" not in found.link
            else ""
        )
        body = {
            "environment_name": environment,
            "state": word,
            "comment": f"gate: {markdown(found.reason, 400)}{link}",
        }
        where = path("repos", *repository(repo), "actions", "runs", run, "deployment_protection_rule")
        try:
            api.send("POST", where, body, type(None), repeatable=True)
        except (RefusedError, MissingError) as error:
            return Done(note=f"nobody waits for it any more: {error.message}")
        return Done(note=f"{word}: {found.reason}")
