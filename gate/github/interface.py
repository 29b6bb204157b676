"""The forge room's contract: what may be asked of a code forge, and every way it can go wrong.

Whatever a forge answers is data from outside: decoded into the caller's type or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, Protocol, TypeVar
from urllib.parse import quote

from gate.errors import InconclusiveError

T = TypeVar("T")
Method = Literal["POST", "PUT", "PATCH", "DELETE"]
Query = Mapping[str, str | int]


class ForgeError(InconclusiveError):
    """The forge did not do what was asked. ``status`` is the HTTP status, None where there was none."""

    def __init__(self, message: str, *, advice: str = "", status: int | None = None) -> None:
        super().__init__(message, advice=advice)
        self.status = status


class NotAllowedError(ForgeError):
    """401, or a 403 that is no rate limit: the token is wrong or may not do this."""


class MissingError(ForgeError):
    """404 or 410: not there, or hidden from this token (GitHub does not tell which)."""


class RefusedError(ForgeError):
    """409, 422 and the other 4xx: understood and refused; asking again will not help."""


class RateLimitedError(ForgeError):
    """A rate limit that lasts longer than we are willing to wait. Nothing was carried out."""


class UnreachableError(ForgeError):
    """5xx, no answer in time, or an answer that is not what the API promises.

    ``maybe_done``: what was asked may have been carried out all the same.
    """

    def __init__(
        self, message: str, *, advice: str = "", status: int | None = None, maybe_done: bool = False
    ) -> None:
        super().__init__(message, advice=advice, status=status)
        self.maybe_done = maybe_done


class Api(Protocol):
    """JSON over HTTP with one forge, one token. Paths come from :func:`path`; they start with ``/``.

    Every call ends within a bounded time, waits for rate limits that are short enough, and repeats
    what may safely be repeated. All of them raise the errors above and nothing else. Types are
    what msgspec can convert to (Structs that ignore unknown fields, mostly).
    """

    def get(self, path: str, into: type[T], query: Query | None = None) -> T:
        """One object."""
        ...

    def pages(
        self,
        path: str,
        into: type[T],
        query: Query | None = None,
        *,
        key: str | None = None,
        most: int = 10_000,
    ) -> Iterator[T]:
        """Every item of a list over all its pages, at most ``most``.

        ``key`` names the list where the answer is an object (``check_runs``).
        """
        ...

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
        """Change something.

        PUT, PATCH and DELETE, and a POST that is ``repeatable``, are sent again when no answer came. Any
        other POST is not: ``settled`` then looks whether it was carried out and returns what it made, or
        None, and only after None is it sent once more. A refusal by a rate limit is waited for and repeated:
        the forge has then done nothing. ``into`` is ``type(None)`` where the answer does not matter.
        """
        ...

    def download(self, path: str, most: int) -> bytes:
        """The bytes that a path leads to (one redirect, followed without the token); at most ``most``.

        Raises RefusedError for more.
        """
        ...


def path(*segments: str | int) -> str:
    """``path("repos", "o", "r")`` is ``/repos/o/r``; nothing in a segment can leave its place."""
    for segment in segments:
        if str(segment) in ("", ".", ".."):
            raise ValueError("empty or climbing path segment")
    return "/" + "/".join(quote(str(segment), safe="") for segment in segments)


def repository(name: str) -> tuple[str, str]:
    """Owner and name out of ``owner/name``. Raises ValueError."""
    owner, slash, repo = name.partition("/")
    if not (owner and slash and repo) or "/" in repo or owner in (".", "..") or repo in (".", ".."):
        raise ValueError(f"not owner/name: {ascii(name)[:100]}")
    return owner, repo
