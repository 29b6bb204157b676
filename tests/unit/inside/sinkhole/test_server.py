"""The sinkhole's mother and the packets of one sandbox: nobody waits, order holds, a flood ends in a hole."""

from __future__ import annotations

import importlib
import selectors
import signal
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

main: Any = importlib.import_module("gate.inside.sinkhole.__main__")


class Mother:
    """As much of the real one as a lane sees."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.stopped: list[bytes] = []

    def stop(self, token: bytes) -> None:
        self.stopped.append(token)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@pytest.fixture
def lane(child: subprocess.Popen[bytes]) -> Iterator[tuple[Any, Mother, socket.socket]]:
    mother = Mother()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    made = main.Lane(mother, b"t" * 16, ours, child.pid)
    yield made, mother, theirs
    made.close()
    theirs.close()
    mother.selector.close()


def test_packets_arrive_in_order_and_the_end_after_them(lane: tuple[Any, Mother, socket.socket]) -> None:
    it, mother, theirs = lane
    sent = [bytes([n]) * 40_000 for n in range(20)]
    for packets in sent:
        it.put(packets)
    assert it.waiting, "more than a local socket holds"
    it.last = True
    got: list[bytes] = []
    while len(got) < len(sent):
        got.append(theirs.recv(1 << 17))
        it.turn()
    assert got == sent
    assert mother.stopped == [b"t" * 16]


def test_a_flood_ends_the_process_so_that_its_log_has_no_end(
    lane: tuple[Any, Mother, socket.socket], child: subprocess.Popen[bytes]
) -> None:
    it, _, _ = lane
    for _ in range(400):
        it.put(bytes(48 << 10))
    assert child.wait(5) == -signal.SIGKILL
    assert not it.waiting


def test_a_process_that_died_takes_nothing_more(lane: tuple[Any, Mother, socket.socket]) -> None:
    it, mother, theirs = lane
    theirs.close()
    it.put(b"x")
    it.turn()
    it.put(b"y")
    assert not it.waiting
    assert not mother.selector.get_map()


def test_a_turn_after_the_end_does_nothing(lane: tuple[Any, Mother, socket.socket]) -> None:
    """Both of its pipes can tell of the end in one round, and the other one be asked first."""
    it, _, theirs = lane
    theirs.close()
    it.close()
    it.turn()
