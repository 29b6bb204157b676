"""The App's own identity, and its tokens: one repository and a few permissions each, in memory only."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
from github import Auth

from gate.errors import UsageError
from gate.github.client import GitHubApi, connect
from gate.github.interface import Api, path, repository

DEPLOYMENTS: Final = {
    "actions": "read",
    "checks": "read",
    "contents": "read",
    "deployments": "write",
    "pull_requests": "read",
}
"""What answering for deployments needs."""
CHECKS: Final = {"checks": "write", "contents": "read", "pull_requests": "write"}
"""What telling a verdict needs."""
FETCH: Final = {"contents": "read"}
"""What fetching a change needs."""


class _Token(msgspec.Struct):
    token: str
    expires_at: str


class _App(msgspec.Struct):
    slug: str


class Tokens:
    """Installation tokens of a GitHub App, until they end. ``key`` is the app's private key (PEM)."""

    def __init__(self, app_id: int, key: str, url: str) -> None:
        try:
            self._auth = Auth.AppAuth(app_id, key)
            _ = self._auth.token
        except Exception as error:
            raise UsageError("the app's private key is not a PEM key that can sign") from error
        self.app_id = app_id
        self._url, self._lock = url, threading.Lock()
        self._kept: dict[tuple[int, str, tuple[tuple[str, str], ...]], tuple[str, float]] = {}
        self._login = ""

    def login(self) -> str:
        """The login that the App writes under. Raises the forge's errors."""
        if not self._login:
            self._login = f"{self._app().get('/app', _App).slug}[bot]"
        return self._login

    def token(self, installation: int, repo: str, permissions: Mapping[str, str]) -> str:
        """A token for one repository. Raises the forge's errors."""
        key = (installation, repo, tuple(sorted(permissions.items())))
        with self._lock:
            kept = self._kept.get(key)
        if kept is None or kept[1] < time.time() + 60:
            body = {"repositories": [repository(repo)[1]], "permissions": dict(permissions)}
            where = path("app", "installations", installation, "access_tokens")
            made = self._app().send("POST", where, body, _Token, repeatable=True)
            kept = (made.token, datetime.fromisoformat(made.expires_at).timestamp())
            with self._lock:
                self._kept[key] = kept
        return kept[0]

    def api(self, installation: int, repo: str, permissions: Mapping[str, str] = DEPLOYMENTS) -> Api:
        """A client for one repository. Raises the forge's errors."""
        token = self.token(installation, repo, permissions)
        return connect(token, self._url, deadline=15.0, patience=10.0, pause=0.0)

    def _app(self) -> GitHubApi:
        return GitHubApi(self._auth, url=self._url, deadline=10.0, patience=5.0)
