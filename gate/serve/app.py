"""The HTTP face: webhooks are verified, written to disk and acknowledged; nothing is worked on here."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gate.regex import regex
from gate.serve.interface import NotKeptError, Queue
from gate.serve.meters import Meters
from gate.serve.store import StoreClosedError
from gate.serve.unsigned import Allowance, CrowdedError, TooLargeError, Unsigned

EVENTS: Final = frozenset(
    {"deployment_protection_rule", "pull_request", "check_suite", "check_run", "issue_comment", "merge_group"}
)
MAX_BODY: Final = 25 << 20
"""GitHub sends no payload larger than 25 MB."""
_ID: Final = regex(r"[0-9A-Za-z-]{8,64}")


def _declared(request: Request, most: int) -> None:
    """Raises TooLargeError for a length that is none or too much, before a byte is read."""
    declared = request.headers.get("content-length", "0")
    if not re.fullmatch(r"[0-9]{1,12}", declared) or int(declared) > most:
        raise TooLargeError


class _Door:
    """Answers for /webhook."""

    def __init__(
        self,
        queue: Queue,
        secrets: Sequence[bytes],
        meters: Meters,
        woken: Callable[[], None],
        limits: tuple[int, float],
    ) -> None:
        self._queue, self._secrets, self._meters, self._woken = queue, secrets, meters, woken
        self._most, self._seconds = limits
        self._allowance = Allowance()

    async def webhook(self, request: Request) -> Response:
        """Answer and count."""
        start = time.perf_counter()
        status, text, outcome = await self._take(request)
        self._meters.delivery(outcome, time.perf_counter() - start)
        closing = {"connection": "close"} if status in (408, 413, 503) else None
        return PlainTextResponse(text, status, closing)

    async def _take(self, request: Request) -> tuple[int, str, str]:
        with Unsigned(self._secrets, self._allowance, self._most) as unsigned:
            try:
                _declared(request, self._most)
                async with asyncio.timeout(self._seconds):
                    await unsigned.read(request.stream())
            except TooLargeError:
                return 413, "too large", "too-large"
            except CrowdedError:
                return 503, "too much at once", "crowded"
            except (TimeoutError, ClientDisconnect):
                return 408, "too slow", "too-slow"
            if not unsigned.signed(request.headers.get("x-hub-signature-256", "")):
                return 401, "bad signature", "bad-signature"
            return await self._keep(request, unsigned)

    async def _keep(self, request: Request, signed: Unsigned) -> tuple[int, str, str]:
        name, event = (request.headers.get(f"x-github-{part}", "") for part in ("delivery", "event"))
        if not _ID.fullmatch(name):
            return 400, "no delivery id", "malformed"
        if event not in EVENTS:
            return 202, "not for us", "ignored"
        try:
            accepted = await asyncio.wrap_future(self._queue.accept(name, event, signed.body(), time.time()))
        except (sqlite3.Error, StoreClosedError, NotKeptError):
            return 503, "cannot keep it now", "not-kept"
        self._woken()
        return 202, accepted, accepted


def app(
    queue: Queue,
    secrets: Sequence[bytes],
    meters: Meters,
    *,
    ready: Callable[[], str],
    woken: Callable[[], None],
    max_body: int = MAX_BODY,
    body_seconds: float = 10.0,
) -> Starlette:
    """The application. ``ready`` returns why it is not, or nothing; ``woken`` is called after a delivery.

    ``secrets``: one of them signed (two while one is being replaced). Raises ValueError for weak ones.
    """
    if not secrets or any(len(secret) < 16 for secret in secrets):
        raise ValueError("a webhook secret has at least 16 bytes")
    door = _Door(queue, secrets, meters, woken, (max_body, body_seconds))

    async def health(_request: Request) -> Response:
        return PlainTextResponse("ok")

    async def readiness(_request: Request) -> Response:
        why = await asyncio.to_thread(ready)
        return PlainTextResponse(why or "ready", 503 if why else 200)

    async def metrics(_request: Request) -> Response:
        text = await asyncio.to_thread(lambda: meters.text(queue.count()))
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    return Starlette(
        routes=[
            Route("/webhook", door.webhook, methods=["POST"]),
            Route("/healthz", health),
            Route("/readyz", readiness),
            Route("/metrics", metrics),
        ]
    )
