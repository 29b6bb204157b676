"""GitHub's REST API through PyGithub's requester: its authentication, URLs and errors; our patience.

PyGithub's own retry repeats POSTs after 5xx answers, which doubles comments, and sleeps through rate
limits however long; so it is switched off and :class:`GitHubApi` does both itself. Sources: GitHub "Rate
limits for the REST API" (``retry-after``; ``x-ratelimit-remaining: 0`` with ``x-ratelimit-reset``; else
wait at least a minute) and "Best practices" (a pause of a second between writes).
"""

from __future__ import annotations

import contextlib
import ipaddress
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec
import requests
from github import Auth, Consts, GithubException
from github.Requester import Requester

from gate import __version__
from gate.errors import UsageError
from gate.escape import visible
from gate.github.interface import (
    ForgeError,
    Method,
    MissingError,
    NotAllowedError,
    Query,
    RateLimitedError,
    RefusedError,
    UnreachableError,
)

T = TypeVar("T")
PAGE: Final = 100
_BACKOFF: Final = (1.0, 3.0, 9.0)
_SECONDARY_WAIT: Final = 60.0
_BROKEN: Final = (ValueError, AttributeError, TypeError, RuntimeError, AssertionError, RecursionError)
"""What PyGithub raises when an answer is not JSON, not an object, or redirects oddly."""


class GitHubApi:
    """The Api of interface.py for github.com and GitHub Enterprise Server.

    ``url`` as in ``GITHUB_API_URL`` (``https://api.github.com``, ``https://ghe.example/api/v3``).
    ``deadline``: seconds for one answer, name resolution and slow drips included. ``patience``:
    seconds this object may spend waiting in all. ``pause``: seconds between writes. ``sleep`` and
    ``now`` (seconds since 1970) are the clock.
    """

    def __init__(
        self,
        auth: Auth.Auth | None,
        *,
        url: str = "https://api.github.com",
        deadline: float = 30.0,
        patience: float = 180.0,
        pause: float = 1.0,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.url = checked_url(url)
        self.auth = auth
        self._deadline = deadline
        self._patience = patience
        self._pause = pause
        self._sleep, self._now = sleep, now
        self._last_write = float("-inf")
        self._requester = self._connect()

    def _connect(self) -> Requester:
        return Requester(
            auth=self.auth,
            base_url=self.url,
            timeout=max(1, int(self._deadline)),
            user_agent=f"gate/{__version__}",
            per_page=PAGE,
            verify=True,
            retry=0,
            pool_size=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version="2022-11-28",
        )

    def get(self, path: str, into: type[T], query: Query | None = None) -> T:
        """One object."""
        _, data = self._persist("GET", path, query, None, repeatable=True)
        return _converted(data, into, path)

    def pages(
        self,
        path: str,
        into: type[T],
        query: Query | None = None,
        *,
        key: str | None = None,
        most: int = 10_000,
    ) -> Iterator[T]:
        """Every item of a list over all its pages, at most ``most``. Pages are counted; the URLs in ``Link``
        are never followed.
        """
        left, page = most, 1
        while left > 0:
            asked = {**(query or {}), "per_page": PAGE, "page": page}
            headers, data = self._persist("GET", path, asked, None, repeatable=True)
            items = data.get(key) if key is not None and isinstance(data, dict) else data
            found = _converted(items, list[into], path)  # type: ignore[valid-type]
            yield from found[:left]
            left -= len(found)
            page += 1
            if 'rel="next"' not in str(headers.get("link", "")) or not found:
                return

    def send(
        self,
        method: Method,
        path: str,
        body: Mapping[str, object] | None,
        into: type[T],
        *,
        repeatable: bool = False,
        settled: Callable[[], T | None] | None = None,
    ) -> T:
        """Change something."""
        again = repeatable or method != "POST"
        try:
            _, data = self._persist(method, path, None, body, repeatable=again)
            return _converted(data, into, path, maybe_done=True)
        except UnreachableError as error:
            if settled is None or not error.maybe_done:
                raise
        made = settled()
        if made is not None:
            return made
        _, data = self._persist(method, path, None, body, repeatable=again)
        return _converted(data, into, path, maybe_done=True)

    def download(self, path: str, most: int) -> bytes:
        """The bytes that a path leads to (one redirect, followed without the token); at most ``most``."""
        failures = 0
        while True:
            try:
                return self._download(path, most)
            except UnreachableError:
                if failures == len(_BACKOFF) or not self._waited(_BACKOFF[failures]):
                    raise
                failures += 1

    def _download(self, path: str, most: int) -> bytes:
        what = f"GET {path}"
        try:
            target = self._redirect(f"{self.url}{path}", what)
            return _within(self._deadline, lambda: _body(target, most, self._deadline))
        except (requests.RequestException, TimeoutError, OSError) as error:
            raise UnreachableError(f"{self.url} did not answer {what}: {_reason(error)}") from error

    def _redirect(self, url: str, what: str) -> str:
        headers: dict[str, Any] = {"User-Agent": f"gate/{__version__}"}
        if self.auth is not None:
            self.auth.authentication(headers)
        wait = self._deadline
        got = _within(
            wait,
            lambda: requests.get(url, headers=headers, timeout=wait, allow_redirects=False, auth=_no_netrc),
        )
        target = got.headers.get("Location", "")
        if got.status_code in (301, 302, 307, 308) and target:
            checked_url(target.partition("?")[0])
            return target
        if got.status_code < 400:
            raise UnreachableError(f"{self.url} answered {what} with {got.status_code}, not with a redirect")
        data: Any = None
        with contextlib.suppress(ValueError):
            data = got.json()
        lower = {name.lower(): value for name, value in got.headers.items()}
        raise _told(GithubException(got.status_code, data, lower), what)

    def _persist(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: Mapping[str, object] | None,
        *,
        repeatable: bool,
    ) -> tuple[Mapping[str, Any], Any]:
        """One request, waiting out rate limits and repeating what may be repeated."""
        failures = 0
        while True:
            try:
                return self._once(method, path, query, body)
            except RateLimitedError as error:
                if not self._waited(_wait_of(error.__cause__, self._now())):
                    raise
            except UnreachableError:
                if not repeatable or failures == len(_BACKOFF):
                    raise
                jitter = random.uniform(0.75, 1.25)  # noqa: S311 - spreads load, protects nothing
                if not self._waited(_BACKOFF[failures] * jitter):
                    raise
                failures += 1

    def _waited(self, seconds: float) -> bool:
        if seconds > self._patience:
            return False
        self._patience -= seconds
        self._sleep(seconds)
        return True

    def _once(
        self, method: str, path: str, query: Query | None, body: Mapping[str, object] | None
    ) -> tuple[Mapping[str, Any], Any]:
        if method != "GET":
            since = self._now() - self._last_write
            if since < self._pause:
                self._sleep(self._pause - since)
        what = f"{method} {path}"
        try:
            return self._bounded(method, path, dict(query or {}), body)
        except GithubException as error:
            raise _told(error, what) from error
        except (requests.RequestException, TimeoutError, OSError) as error:
            self._reconnect()
            raise UnreachableError(
                f"{self.url} did not answer {what}: {_reason(error)}",
                advice="Is the API reachable from here? Run the step again.",
                maybe_done=not isinstance(error, requests.ConnectTimeout),
            ) from error
        except _BROKEN as error:
            self._reconnect()
            raise UnreachableError(
                f"{self.url} answered {what} with something that is not its API ({type(error).__name__})",
                advice="Is GITHUB_API_URL right? A proxy may have answered instead.",
                maybe_done=True,
            ) from error
        finally:
            if method != "GET":
                self._last_write = self._now()

    def _reconnect(self) -> None:
        """A connection that an abandoned call may still hold is not used again."""
        self._requester = self._connect()

    def _bounded(
        self, method: str, path: str, query: dict[str, Any], body: Mapping[str, object] | None
    ) -> tuple[Mapping[str, Any], Any]:
        """Time-outs of sockets are for one read; neither a slow drip nor name resolution minds them."""
        requester = self._requester
        return _within(self._deadline, lambda: requester.requestJsonAndCheck(method, path, query, input=body))


def _within(seconds: float, work: Callable[[], T]) -> T:
    """The work's result; TimeoutError when it takes longer (its thread is then left behind)."""
    box: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            box.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            failed.append(error)

    thread = threading.Thread(target=run, name="gate-forge", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not box:
        raise TimeoutError(f"no whole answer within {seconds:g} s")
    return box[0]


def _body(url: str, most: int, seconds: float) -> bytes:
    """A URL's bytes, without our token: the redirect's target has its own authority in the query."""
    headers = {"User-Agent": f"gate/{__version__}"}
    with requests.get(
        url, headers=headers, timeout=seconds, allow_redirects=False, stream=True, auth=_no_netrc
    ) as got:
        if got.status_code != 200:
            raise OSError(f"status {got.status_code}")
        kept = bytearray()
        for chunk in got.iter_content(1 << 16):
            kept += chunk
            if len(kept) > most:
                raise RefusedError(f"the download is larger than {most:,} bytes")
        return bytes(kept)


def _no_netrc(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """An ``auth`` that adds nothing: requests then takes no password from ``~/.netrc`` either."""
    return request


def checked_url(url: str) -> str:
    """The API's URL without a trailing slash; a token never travels unencrypted off this machine."""
    parts = urlsplit(url)
    plain_ok = parts.scheme == "http" and _loopback(parts.hostname or "")
    if not parts.hostname or parts.username or parts.query or not (parts.scheme == "https" or plain_ok):
        raise UsageError(
            f"not an API URL: {visible(url)[:200]}",
            advice="Give an https:// URL, such as https://api.github.com or https://HOST/api/v3.",
        )
    return url.rstrip("/")


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_ONE_AT_A_TIME: Final = threading.Lock()
"""Two threads that make msgspec learn a type at once crash the process (seen with 0.22)."""


def _converted(data: object, into: type[T], path: str, *, maybe_done: bool = False) -> T:
    if into is type(None):
        return None
    try:
        with _ONE_AT_A_TIME:
            return msgspec.convert(data, into)
    except msgspec.ValidationError as error:
        raise UnreachableError(
            f"GitHub's answer about {path} is not what its API promises: {visible(str(error))[:200]}",
            advice="Is GITHUB_API_URL right?",
            maybe_done=maybe_done,
        ) from error


def _told(error: GithubException, what: str) -> ForgeError:
    status = int(error.status)
    data = error.data if isinstance(error.data, dict) else {}
    said = visible(str(data.get("message") or ""))[:200]
    text = f"GitHub refused {what} ({status}{': ' + said if said else ''})"
    if _is_limit(error, status, said):
        return RateLimitedError(text, advice="Run the step again later.", status=status)
    if status == 401:
        return NotAllowedError(text, advice="The token is missing, wrong or expired.", status=status)
    if status == 403:
        advice = "Give the job the permissions in docs/github.md."
        return NotAllowedError(text, advice=advice, status=status)
    if status in (404, 410):
        advice = "It does not exist, or this token may not see it."
        return MissingError(text, advice=advice, status=status)
    if status >= 500:
        advice = "GitHub has trouble (https://www.githubstatus.com). Run the step again."
        return UnreachableError(text, advice=advice, status=status, maybe_done=True)
    return RefusedError(text, status=status)


def _is_limit(error: GithubException, status: int, said: str) -> bool:
    headers = error.headers or {}
    spent = str(headers.get(Consts.headerRateRemaining, "")).strip() == "0"
    return status == 429 or (
        status == 403 and ("retry-after" in headers or spent or "rate limit" in said.lower())
    )


def _wait_of(error: BaseException | None, now: float) -> float:
    """Seconds that GitHub asks us to wait."""
    headers = (error.headers or {}) if isinstance(error, GithubException) else {}
    try:
        if "retry-after" in headers:
            seconds = float(headers["retry-after"])
        else:
            spent = str(headers.get(Consts.headerRateRemaining, "")).strip() == "0"
            seconds = float(headers[Consts.headerRateReset]) - now if spent else _SECONDARY_WAIT
    except (KeyError, ValueError):
        return _SECONDARY_WAIT
    return min(max(seconds, 0.0), 1e9) + 1.0 if math.isfinite(seconds) else _SECONDARY_WAIT


def _reason(error: BaseException) -> str:
    if isinstance(error, requests.Timeout | TimeoutError):
        return visible(str(error))[:120] if isinstance(error, TimeoutError) else "time-out"
    return type(error).__name__


def connect(token: str | None, url: str, **options: Any) -> GitHubApi:
    """An Api with a token (``GITHUB_TOKEN``, a personal or an installation's token); None: anonymous."""
    return GitHubApi(Auth.Token(token) if token else None, url=url, **options)
