"""HTTP/1.x with answers that let second stages show themselves. Framing by h11."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import h11

from . import outage
from .log import Log
from .streams import Stream

BODY = 64 << 10
"""Bytes of one request's body that are kept."""
_HEADERS = 100
_TEXT = 8192
_IDLE = 5.0
_METHODS = (
    b"GET ",
    b"POST ",
    b"PUT ",
    b"HEAD ",
    b"DELETE ",
    b"PATCH ",
    b"OPTIONS ",
    b"CONNECT ",
    b"PROPFIND ",
)
_SCRIPT = b"#!/bin/sh\n:\n"
_PAGES = {
    ".sh": (b"text/x-shellscript", _SCRIPT),
    ".bash": (b"text/x-shellscript", _SCRIPT),
    ".bin": (b"application/octet-stream", _SCRIPT),
    ".elf": (b"application/octet-stream", _SCRIPT),
    ".py": (b"text/x-python", b"pass\n"),
    ".js": (b"text/javascript", b";\n"),
    ".html": (b"text/html", b"<!doctype html><title>OK</title>\n"),
    ".txt": (b"text/plain", b"\n"),
}
_REASONS = {200: b"OK", 404: b"Not Found", 503: b"Service Unavailable"}
_MISSING = (".zip", ".gz", ".whl", ".tgz", ".xz", ".bz2", ".jar", ".ico", "robots.txt")


def looks_like_http(data: bytes) -> bool:
    """The beginning of a request."""
    return data.startswith(_METHODS)


async def answer_requests(
    stream: Stream, log: Log, about: dict[str, Any], fails: Callable[[], str] = str
) -> str | None:
    """Answer requests until the client leaves. ``about``: fields of every line (id, scheme); ``fails``: how
    the next request fails (outage.py).

    Returns the target of a CONNECT, whose other end the caller plays next.
    """
    web = h11.Connection(h11.SERVER, max_incomplete_event_size=64 << 10)
    request: h11.Request | None = None
    body, size = bytearray(), 0
    while True:
        try:
            event = web.next_event()
        except h11.RemoteProtocolError:
            log.say("data", id=about["id"], data=web.trailing_data[0][:BODY])
            return None
        if event is h11.NEED_DATA:
            if web.they_are_waiting_for_100_continue:
                await stream.send(web.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
            data = await stream.recv(_IDLE)
            if not data:
                if request is not None:
                    _tell(log, about, request, body, size, 0)
                return None
            web.receive_data(data)
        elif isinstance(event, h11.Request):
            request = event
            body, size = bytearray(), 0
        elif isinstance(event, h11.Data):
            size += len(event.data)
            body += event.data[: BODY - len(body)]
        elif isinstance(event, h11.EndOfMessage) and request is not None:
            failure = "" if request.method == b"CONNECT" else fails()
            if failure:
                _tell(log, about, request, body, size, 503)
                if failure == outage.CLOSED:
                    return None
                await _send(stream, web, request, 503, (b"text/plain", b"unavailable\n"))
                target = None
            else:
                target = await _answer(stream, web, log, about, request, body, size)
            request = None
            if target is not None:
                stream.push_back(web.trailing_data[0])
                return target
            if web.our_state is not h11.DONE or web.their_state is not h11.DONE:
                return None
            web.start_next_cycle()
        else:
            return None


async def _answer(
    stream: Stream,
    web: h11.Connection,
    log: Log,
    about: dict[str, Any],
    request: h11.Request,
    body: bytearray,
    size: int,
) -> str | None:
    if request.method == b"CONNECT":
        _tell(log, about, request, body, size, 200)
        await stream.send(web.send(h11.Response(status_code=200, headers=[])) or b"")
        return request.target.decode("latin-1")
    status, kind, page = choose(request)
    _tell(log, about, request, body, size, status)
    await _send(stream, web, request, status, (kind, page))
    return None


async def _send(
    stream: Stream, web: h11.Connection, request: h11.Request, status: int, content: tuple[bytes, bytes]
) -> None:
    """One whole answer. ``content``: its type and bytes."""
    kind, page = content
    headers = [(b"Server", b"nginx"), (b"Content-Type", kind), (b"Content-Length", b"%d" % len(page))]
    out = web.send(h11.Response(status_code=status, headers=headers, reason=_REASONS[status])) or b""
    if request.method != b"HEAD":
        out += web.send(h11.Data(data=page)) or b""
    out += web.send(h11.EndOfMessage()) or b""
    await stream.send(out)


def choose(request: h11.Request) -> tuple[int, bytes, bytes]:
    """Status, content type and page for a request."""
    path = request.target.split(b"?")[0].decode("latin-1").lower()
    if path.endswith(_MISSING):
        return 404, b"text/plain", b"not found\n"
    for ending, (kind, page) in _PAGES.items():
        if path.endswith(ending):
            return 200, kind, page
    agent = next((value for name, value in request.headers if name == b"user-agent"), b"")
    if agent.lower().startswith((b"curl/", b"wget/")) and request.method == b"GET":
        return 200, b"text/plain", _SCRIPT  # to be piped into a shell, most likely
    return 200, b"application/json", b"{}"


def _tell(
    log: Log, about: dict[str, Any], request: h11.Request, body: bytearray, size: int, status: int
) -> None:
    headers = [
        [name.decode("latin-1"), base64.b64encode(value[:_TEXT]).decode("ascii")]
        for name, value in list(request.headers.raw_items())[:_HEADERS]
    ]
    told = log.say(
        "http",
        method=request.method.decode("latin-1")[:32],
        target=bytes(request.target[:_TEXT]),
        headers=headers,
        body=bytes(body),
        size=size,
        status=status,
        **about,
    )
    if told:
        log.cut += int(size > len(body))
