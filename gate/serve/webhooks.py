"""Joins serve, forge and deploy: what each webhook means, and the app's tokens."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

import msgspec
from github import Auth

from gate.deploy.answer import decide_with_patience
from gate.deploy.decide import Decision
from gate.errors import UsageError
from gate.escape import markdown
from gate.github.client import GitHubApi, connect
from gate.github.interface import Api, MissingError, RefusedError, path, repository
from gate.github.target import pull
from gate.serve.store import Delivery, Store
from gate.serve.worker import Done, HopelessError, Later
from gate.settings import Config

PERMISSIONS: Final = {
    "actions": "read",
    "checks": "read",
    "contents": "read",
    "deployments": "write",
    "pull_requests": "read",
}
_CALLBACK: Final = re.compile(r"/repos/([^/]+/[^/]+)/actions/runs/([0-9]{1,20})/deployment_protection_rule")
_LINK: Final = re.compile(r"https://[A-Za-z0-9./#?=&:_-]{1,500}")
_FULL: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOOK_AGAIN: Final = 20.0


class _Installation(msgspec.Struct):
    id: int


class _Repository(msgspec.Struct):
    full_name: str


class _Deployment(msgspec.Struct):
    sha: str


class _Suite(msgspec.Struct):
    head_sha: str


class _Head(msgspec.Struct):
    sha: str


class _Pull(msgspec.Struct):
    head: _Head
    merge_commit_sha: str | None = None


class _Issue(msgspec.Struct):
    number: int
    pull_request: dict[str, object] | None = None


class _Comment(msgspec.Struct):
    body: str | None = None


class _Payload(msgspec.Struct):
    """The few members that are read; all of them are GitHub's word, as the signature held."""

    repository: _Repository
    installation: _Installation
    action: str = ""
    environment: str = ""
    sha: str = ""
    deployment: _Deployment | None = None
    deployment_callback_url: str = ""
    check_suite: _Suite | None = None
    pull_request: _Pull | None = None
    issue: _Issue | None = None
    comment: _Comment | None = None


class _Token(msgspec.Struct):
    token: str
    expires_at: str


class Tokens:
    """Installation tokens of a GitHub App, for one repository and these permissions each, until they end.

    ``key`` is the app's private key (PEM). Tokens live in memory only.
    """

    def __init__(self, app_id: int, key: str, url: str) -> None:
        try:
            self._auth = Auth.AppAuth(app_id, key)
            _ = self._auth.token
        except Exception as error:
            raise UsageError("the app's private key is not a PEM key that can sign") from error
        self._url, self._lock = url, threading.Lock()
        self._kept: dict[tuple[int, str], tuple[str, float]] = {}

    def api(self, installation: int, repo: str) -> Api:
        """A client for one repository. Raises the forge's errors."""
        with self._lock:
            kept = self._kept.get((installation, repo))
        if kept is None or kept[1] < time.time() + 60:
            body = {"repositories": [repository(repo)[1]], "permissions": PERMISSIONS}
            app = GitHubApi(self._auth, url=self._url, deadline=10.0, patience=5.0)
            where = path("app", "installations", installation, "access_tokens")
            made = app.send("POST", where, body, _Token, repeatable=True)
            kept = (made.token, datetime.fromisoformat(made.expires_at).timestamp())
            with self._lock:
                self._kept[installation, repo] = kept
        return connect(kept[0], self._url, deadline=15.0, patience=10.0, pause=0.0)


# msgspec learns a type when it first meets it, and two threads that make it do so at once crash the process
# (seen with 0.22): what worker threads decode is made known here, before there are any.
_PAYLOAD: Final = msgspec.json.Decoder(_Payload)
_SETTINGS: Final = msgspec.json.Decoder(Config)


class Answers:
    """What to do about each delivery. ``api`` makes a client for an installation and a repository."""

    def __init__(self, store: Store, api: Callable[[int, str], Api]) -> None:
        self._store, self._api = store, api

    def handle(self, delivery: Delivery) -> Done | Later:
        """Answer one delivery, as a gate.serve.worker.Handle: safe to repeat, as reviews of a decided
        deployment are refused.
        """
        try:
            told = _PAYLOAD.decode(delivery.body)
            repository(told.repository.full_name)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
            raise HopelessError(f"not a payload of {delivery.event}") from error
        if delivery.event == "deployment_protection_rule":
            return self._deployment(delivery, told)
        commits = self._commits(told)
        woken = self._store.wake([c for c in commits if _FULL.fullmatch(c)], time.time())
        return Done(note=f"{woken} deployments looked at again")

    def _commits(self, told: _Payload) -> list[str]:
        """Commits about which this webhook may have changed something."""
        if told.check_suite is not None:
            return [told.check_suite.head_sha]
        if told.pull_request is not None:
            return [told.pull_request.head.sha, told.pull_request.merge_commit_sha or ""]
        asked = told.comment is not None and (told.comment.body or "").lstrip().startswith("/gate ")
        if asked and told.issue is not None and told.issue.pull_request is not None:
            repo = told.repository.full_name
            try:
                return [pull(self._api(told.installation.id, repo), repo, told.issue.number).head_sha]
            except MissingError:
                return []
        return []

    def _deployment(self, delivery: Delivery, told: _Payload) -> Done | Later:
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
