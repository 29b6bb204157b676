"""The HTTP face: webhooks are verified, written to disk and acknowledged; nothing is worked on here."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gate.serve.meters import Meters
from gate.serve.store import Store, StoreClosedError

EVENTS: Final = frozenset({"deployment_protection_rule", "pull_request", "check_suite", "issue_comment"})
MAX_BODY: Final = 25 << 20
"""GitHub sends no payload larger than 25 MB."""
_ID: Final = re.compile(r"[0-9A-Za-z-]{8,64}")
_SIGNATURE: Final = re.compile(r"sha256=([0-9a-f]{64})")


def signature_holds(body: bytes, header: str, secrets: Sequence[bytes]) -> bool:
    """``X-Hub-Signature-256`` over the raw body, under one of the secrets; in constant time."""
    found = _SIGNATURE.fullmatch(header)
    told = found[1] if found else "0" * 64
    good = False
    for secret in secrets:
        good |= hmac.compare_digest(hmac.new(secret, body, hashlib.sha256).hexdigest(), told)
    return good and found is not None


class _TooLargeError(Exception):
    pass


async def _body(request: Request, most: int) -> bytes:
    """The raw body; stops reading as soon as it is too much."""
    declared = request.headers.get("content-length", "0")
    if not re.fullmatch(r"[0-9]{1,12}", declared) or int(declared) > most:
        raise _TooLargeError
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise _TooLargeError
        chunks.append(chunk)
    return b"".join(chunks)


class _Door:
    """Answers for /webhook."""

    def __init__(
        self,
        store: Store,
        secrets: Sequence[bytes],
        meters: Meters,
        woken: Callable[[], None],
        limits: tuple[int, float],
    ) -> None:
        self._store, self._secrets, self._meters, self._woken = store, secrets, meters, woken
        self._most, self._seconds = limits

    async def webhook(self, request: Request) -> Response:
        """Answer and count."""
        start = time.perf_counter()
        status, text, outcome = await self._take(request)
        self._meters.delivery(outcome, time.perf_counter() - start)
        closing = {"connection": "close"} if status in (408, 413) else None
        return PlainTextResponse(text, status, closing)

    async def _take(self, request: Request) -> tuple[int, str, str]:
        try:
            async with asyncio.timeout(self._seconds):
                body = await _body(request, self._most)
        except _TooLargeError:
            return 413, "too large", "too-large"
        except (TimeoutError, ClientDisconnect):
            return 408, "too slow", "too-slow"
        if not signature_holds(body, request.headers.get("x-hub-signature-256", ""), self._secrets):
            return 401, "bad signature", "bad-signature"
        name, event = (request.headers.get(f"x-github-{part}", "") for part in ("delivery", "event"))
        if not _ID.fullmatch(name):
            return 400, "no delivery id", "malformed"
        if event not in EVENTS:
            return 202, "not for us", "ignored"
        try:
            accepted = await asyncio.wrap_future(self._store.accept(name, event, body, time.time()))
        except (sqlite3.Error, StoreClosedError):
            return 503, "cannot keep it now", "not-kept"
        self._woken()
        return 202, accepted, accepted


def app(
    store: Store,
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
    door = _Door(store, secrets, meters, woken, (max_body, body_seconds))

    async def health(_request: Request) -> Response:
        return PlainTextResponse("ok")

    async def readiness(_request: Request) -> Response:
        why = await asyncio.to_thread(ready)
        return PlainTextResponse(why or "ready", 503 if why else 200)

    async def metrics(_request: Request) -> Response:
        text = await asyncio.to_thread(lambda: meters.text(store.count()))
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    return Starlette(
        routes=[
            Route("/webhook", door.webhook, methods=["POST"]),
            Route("/healthz", health),
            Route("/readyz", readiness),
            Route("/metrics", metrics),
        ]
    )
