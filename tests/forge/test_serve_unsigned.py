"""What strangers can make `gate serve` hold before their signature is known: little."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gate.serve.patience import HEAD_SECONDS
from gate.serve.unsigned import IN_MEMORY, Allowance, CrowdedError, TooLargeError, Unsigned
from tests.forge.serving import SECRET, payload, served

KEY = SECRET.encode()


def _megabytes(pid: int) -> float:
    """The memory that is the process's own (PSS would count files, too)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no RssAnon")


@contextlib.contextmanager
def _flood(port: int, connections: int, size: int) -> Iterator[None]:
    """Connections that each sent ``size`` bytes of a larger, unsigned body, and stay open."""
    head = (
        "POST /webhook HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: pull_request\r\n"
        f"X-GitHub-Delivery: 72d3162e-cc78\r\nContent-Length: {size + 10}\r\n\r\n"
    ).encode()
    with contextlib.ExitStack() as stack:
        for _ in range(connections):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            with contextlib.suppress(OSError):  # turned away in the middle
                one.sendall(head)
                for _ in range(size >> 16):
                    one.sendall(b"x" * (1 << 16))
        yield


def test_requests_that_are_begun_and_never_finished_do_not_keep_their_place(tmp_path: Path) -> None:
    """On new connections, and on one that already had an answer."""
    with served(tmp_path, None, "") as server, contextlib.ExitStack() as stack:
        place = ("127.0.0.1", server.port)
        held = [stack.enter_context(socket.create_connection(place, timeout=30)) for _ in range(50)]
        held[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in held[0].recv(4096)
        start = time.monotonic()
        for number, one in enumerate(held):
            one.sendall(b"POST /webhook HTTP/1.1\r\nHo" if number % 2 == 0 else b"P")
        assert server.ask("GET", "/readyz")[0] == 200
        for one in held:
            with contextlib.suppress(ConnectionResetError):
                while one.recv(4096):
                    pass
        assert HEAD_SECONDS - 1 < time.monotonic() - start < 2 * HEAD_SECONDS
        slow = stack.enter_context(socket.create_connection(place, timeout=30))
        slow.sendall(b"GET /healthz HTTP/1.1\r\n")
        time.sleep(HEAD_SECONDS / 4)
        slow.sendall(b"Host: x\r\n\r\n")
        assert b"200 OK" in slow.recv(4096), "who is only slow is served"


@pytest.mark.parametrize(("connections", "size"), [(24, 20 << 20), (300, 64 << 10)])
def test_unsigned_floods_take_no_memory_and_stop_nobody(tmp_path: Path, connections: int, size: int) -> None:
    with served(tmp_path, None, "") as server:
        server.send("pull_request", payload(number=1), "warm-up-delivery")
        before = _megabytes(server.child.pid)
        with _flood(server.port, connections, size):
            held = _megabytes(server.child.pid) - before
            start = time.monotonic()
            assert server.send("pull_request", payload(number=2), "a-delivery-of-github")[0] == 202
            waited = time.monotonic() - start
        assert held < 64
        assert waited < 5


async def _chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def test_bodies_are_whole_whatever_their_size() -> None:
    for size in (0, 1, IN_MEMORY, IN_MEMORY + 1, 3 * IN_MEMORY):
        body = b"ab" * size
        signed = "sha256=" + hmac.new(KEY, body, hashlib.sha256).hexdigest()
        with Unsigned([b"0" * 16, KEY], Allowance(), 1 << 20) as unsigned:
            asyncio.run(unsigned.read(_chunks(body[:7], body[7:])))
            assert unsigned.signed(signed)
            assert not unsigned.signed(signed[:-1] + "x")
            assert unsigned.body() == body


def test_bounds_hold_and_are_given_back() -> None:
    allowance = Allowance(IN_MEMORY * 2)
    with Unsigned([KEY], allowance, 1 << 20) as first:
        asyncio.run(first.read(_chunks(b"x" * IN_MEMORY * 2)))
        with Unsigned([KEY], allowance, 1 << 20) as second, pytest.raises(CrowdedError):
            asyncio.run(second.read(_chunks(b"x" * (IN_MEMORY + 1))))
        with Unsigned([KEY], allowance, 1 << 20) as small:  # a small one always finds room
            asyncio.run(small.read(_chunks(b"x" * IN_MEMORY)))
    with Unsigned([KEY], allowance, 1 << 20) as again:
        asyncio.run(again.read(_chunks(b"x" * IN_MEMORY * 2)))
    with Unsigned([KEY], allowance, 10) as long, pytest.raises(TooLargeError):
        asyncio.run(long.read(_chunks(b"x" * 11)))
