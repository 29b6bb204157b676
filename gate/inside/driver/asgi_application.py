"""Calls an ASGI application in this process: for projects without the package that Starlette's own test
client needs, which most name among their tests' or not at all.

One loop for an application, as a server has: what it does at its start (lifespan) is done on it, and lives on
between requests.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

HOST = "testserver"
_STARTED = "lifespan.startup.complete"
_PEER = ("testclient", 50_000)


class Answer(NamedTuple):
    """What came back. ``headers`` are (name, value), names as they were sent."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Application:
    """One application. Not for several threads."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._state: dict[str, Any] = {}
        self._life: asyncio.Task[None] | None = None
        self._ended: asyncio.Event | None = None

    def start(self) -> bool:
        """Let it start; False where it cannot, or has no start."""
        return bool(self._run(self._start()))

    def stop(self) -> None:
        """Let it end, and wait for that."""
        try:
            with contextlib.suppress(Exception):
                self._run(self._stop())
        finally:
            self._loop.close()

    def __enter__(self) -> Application:  # noqa: PYI034 - Self came with Python 3.11
        """As a test client is entered: raises where it cannot start. It is then left at once, waiting for
        nothing: a start that hangs has an end that hangs.
        """
        started = False
        try:
            started = self.start()
        finally:
            if not started:
                self._abandon()
        if not started:
            raise RuntimeError("it does not start")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def request(
        self, method: str, url: str, headers: Iterable[tuple[str, str]] = (), body: bytes = b""
    ) -> Answer:
        """One request. Raises what the application raises, as a test client does."""
        answer: Answer = self._run(self._request(method, url, list(headers), body))
        return answer

    def _abandon(self) -> None:
        with contextlib.suppress(Exception):
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._run(asyncio.sleep(0))
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(work)

    async def _start(self) -> bool:
        told: asyncio.Queue[str] = asyncio.Queue()
        self._ended = asyncio.Event()
        waiting = ["lifespan.startup"]
        ended = self._ended

        async def receive() -> dict[str, str]:
            if waiting:
                return {"type": waiting.pop()}
            await ended.wait()
            return {"type": "lifespan.shutdown"}

        async def send(message: dict[str, Any]) -> None:
            told.put_nowait(str(message["type"]))

        async def live() -> None:
            try:
                await self._app(self._scope("lifespan"), receive, send)
            finally:
                told.put_nowait("")

        self._life = self._loop.create_task(live())
        self._life.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await told.get() == _STARTED

    async def _stop(self) -> None:
        if self._ended is not None and self._life is not None:
            self._ended.set()
            await self._life

    def _scope(self, kind: str) -> dict[str, Any]:
        state = self._state if kind == "lifespan" else dict(self._state)
        return {"type": kind, "asgi": {"version": "3.0", "spec_version": "2.3"}, "state": state}

    async def _request(self, method: str, url: str, headers: list[tuple[str, str]], body: bytes) -> Answer:
        parts = urlsplit(url)
        sent = [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers
        ]
        named = {name for name, _ in sent}
        more = [(b"host", HOST.encode()), (b"accept", b"*/*"), (b"user-agent", b"testclient")]
        more += [(b"content-length", str(len(body)).encode())] if body else []
        scope = {
            **self._scope("http"),
            "http_version": "1.1",
            "method": method,
            "scheme": parts.scheme or "http",
            "path": unquote(parts.path or "/"),
            "raw_path": (parts.path or "/").encode("ascii", "replace"),
            "query_string": parts.query.encode("ascii", "replace"),
            "root_path": "",
            "headers": [*(pair for pair in more if pair[0] not in named), *sent],
            "client": _PEER,
            "server": (HOST, 80),
        }
        waiting = [body]
        done = asyncio.Event()
        status = 500
        shown: list[tuple[str, str]] = []
        pieces: list[bytes] = []

        async def receive() -> dict[str, Any]:
            if waiting:
                return {"type": "http.request", "body": waiting.pop(), "more_body": False}
            await done.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal status, shown
            if message["type"] == "http.response.start":
                status = int(message["status"])
                shown = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in message.get("headers", ())]
            elif message["type"] == "http.response.body":
                pieces.append(bytes(message.get("body", b"")))
                if not message.get("more_body"):
                    done.set()

        await self._app(scope, receive, send)
        return Answer(status, shown, b"" if method == "HEAD" else b"".join(pieces))
