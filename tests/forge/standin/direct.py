"""The stand-in without HTTP: the same routes and state, for tests that ask thousands of times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from gate.github.interface import Method, MissingError, NotAllowedError, Query, RefusedError
from tests.forge.standin import checks, contents  # noqa: F401 - they register their routes
from tests.forge.standin.description import Description, Operation, description
from tests.forge.standin.routes import ROUTES, Call, Listed, Refusal, allowed
from tests.forge.standin.world import World

T = TypeVar("T")


class DirectApi:
    """Api (gate/github/interface.py) on a World, as a job's token."""

    def __init__(self, world: World, token: str = "job-token") -> None:
        self._world, self._actor = world, world.actors[token]
        self._told: Description = description()
        self._known: dict[tuple[str, str], Operation | None] = {}

    def get(self, path: str, into: type[T], query: Query | None = None) -> T:
        """See Api.get."""
        body = self._ask("GET", path, query, None)
        if isinstance(body, Listed):
            body = (body.rest or {}) | {body.key: body.items}
        return msgspec.convert(body, into, strict=False)

    def pages(
        self,
        path: str,
        into: type[T],
        query: Query | None = None,
        *,
        key: str | None = None,
        most: int = 10_000,
    ) -> Iterator[T]:
        """See Api.pages."""
        body = self._ask("GET", path, query, None)
        items = body.items if isinstance(body, Listed) else body
        assert key == (body.key if isinstance(body, Listed) else None)
        yield from msgspec.convert(items[:most], list[into])  # type: ignore[valid-type]

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
        """See Api.send."""
        plain = json.loads(json.dumps(body)) if body is not None else None
        answer = self._ask(method, path, None, plain)
        if into is type(None):
            return None
        return msgspec.convert(answer, into)

    def download(self, path: str, most: int) -> bytes:
        """See Api.download."""
        url: str = self._ask("GET", path, None, None)
        raw = self._world.artifacts[int(url.partition("?")[0].rpartition("/")[2])][2]
        assert len(raw) <= most
        return raw

    def _ask(self, method: str, path: str, query: Query | None, body: Any) -> Any:
        if (method, path) not in self._known:
            self._known[method, path] = self._told.find(method, path)
        operation = self._known[method, path]
        assert operation is not None, path
        function, permission, level = ROUTES[method, operation.template]
        if not allowed(self._actor, permission, level, self._world):
            raise NotAllowedError("Resource not accessible by integration", status=403)
        asked = {key: str(value) for key, value in (query or {}).items()}
        call = Call(self._world, self._told, "", self._actor, dict(operation.params), asked, body)
        try:
            _, answer = function(call)
        except Refusal as refusal:
            if refusal.status == 404:
                raise MissingError(refusal.message, status=404) from refusal
            if refusal.status == 403:
                raise NotAllowedError(refusal.message, status=403) from refusal
            raise RefusedError(refusal.message, status=refusal.status) from refusal
        return answer
