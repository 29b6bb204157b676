"""An endpoint that fails at first: the first requests to each destination, and no later ones."""

from __future__ import annotations

import asyncio
import os
import socket

from gate.inside.sinkhole.log import Log
from gate.inside.sinkhole.outage import CLOSED, UNAVAILABLE, Outage
from gate.inside.sinkhole.streams import Plain
from gate.inside.sinkhole.web import answer_requests

GET = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"


def test_without_an_order_nothing_fails() -> None:
    assert Outage().next("a.example", 443) == ""


def test_the_first_requests_to_each_destination_fail() -> None:
    outage = Outage()
    outage.begin(5)
    one = [outage.next("a.example", 443) for _ in range(7)]
    assert one == [UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, CLOSED, UNAVAILABLE, "", ""]
    assert outage.next("a.example", 80) == outage.next("b.example", 443) == UNAVAILABLE


def _answers(failures: list[str]) -> tuple[bytes, bytes]:
    """What a client of as many requests on one connection reads, and the log."""

    async def talk() -> tuple[bytes, bytes]:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        out, into = os.pipe()
        loop, left = asyncio.get_running_loop(), iter(failures)
        await loop.sock_sendall(theirs, GET * len(failures))
        theirs.shutdown(socket.SHUT_WR)
        await answer_requests(
            Plain(ours), Log(into, 1 << 20), {"id": 1, "scheme": "http"}, lambda: next(left)
        )
        ours.close()
        os.close(into)
        heard = b""
        while piece := await loop.sock_recv(theirs, 65536):
            heard += piece
        theirs.close()
        with os.fdopen(out, "rb") as log:
            return heard, log.read()

    return asyncio.run(talk())


def test_a_failed_request_is_answered_503_and_the_next_one_not() -> None:
    heard, log = _answers([UNAVAILABLE, ""])
    assert heard.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"HTTP/1.1 200 OK\r\n" in heard
    assert log.count(b'"ev":"http"') == 2, "a request that fails is told like any other"


def test_a_closed_connection_says_nothing_more() -> None:
    heard, log = _answers([UNAVAILABLE, CLOSED, ""])
    assert heard.count(b"HTTP/1.1 ") == 1
    assert log.count(b'"ev":"http"') == 2
