"""The host's end of the way out of an installing sandbox: not believed, and bounded."""

from __future__ import annotations

import selectors
import socket
import struct

import pytest

from gate.sandbox.egress.bridge import Bridge
from gate.sandbox.protocol import Job, Receiver


class Dialled:
    """Remembers the other ends of what was dialled."""

    def __init__(self) -> None:
        self.ends: list[socket.socket] = []

    def __call__(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.settimeout(5)
        self.ends.append(theirs)
        return ours

    def close(self) -> None:
        for end in self.ends:
            end.close()


def _frame(number: int, what: bytes, data: bytes = b"") -> bytes:
    return number.to_bytes(4, "big") + what + data


def _turn(selector: selectors.BaseSelector) -> None:
    for key, _ in selector.select(0.2):
        key.data()


def test_bytes_go_both_ways_and_ends_are_told() -> None:
    dial = Dialled()
    bridge = Bridge(dial)
    with selectors.DefaultSelector() as selector:
        bridge.join(selector)
        bridge.feed(_frame(7, b"o"))
        bridge.feed(_frame(7, b"d", b"hello"))
        (end,) = dial.ends
        assert end.recv(100) == b"hello"
        end.sendall(b"world")
        _turn(selector)
        assert bridge.has_pending
        assert bridge.take() == struct.pack(">II", 7, 5) + b"world"
        end.close()
        _turn(selector)
        assert bridge.take() == struct.pack(">II", 7, 0)
        bridge.feed(_frame(7, b"d", b"too late"))  # it crossed our end on the way
        bridge.feed(_frame(8, b"o"))
        bridge.feed(_frame(8, b"c"))
        assert dial.ends[1].recv(1) == b""
        bridge.close()
    dial.close()


def test_nobody_is_asked_for_more_than_the_sandbox_takes() -> None:
    dial = Dialled()
    bridge = Bridge(dial)
    with selectors.DefaultSelector() as selector:
        bridge.join(selector)
        bridge.feed(_frame(1, b"o"))
        (end,) = dial.ends
        end.setblocking(False)
        sent = 0
        for _ in range(400):
            try:
                sent += end.send(bytes(1 << 16))
            except BlockingIOError:
                if not selector.get_map():
                    break
            _turn(selector)
        assert not selector.get_map()  # waits for the sandbox
        assert sent < 4 << 20
        assert len(bridge.take()) < 2 << 20
        assert selector.get_map()
        bridge.close()
    dial.close()


def test_what_is_pushed_out_without_being_taken_ends_the_connection() -> None:
    dial = Dialled()
    bridge = Bridge(dial)
    with selectors.DefaultSelector() as selector:
        bridge.join(selector)
        bridge.feed(_frame(1, b"o"))
        for _ in range(64):
            bridge.feed(_frame(1, b"d", bytes(1 << 16)))
        assert bridge.take() == struct.pack(">II", 1, 0)
        assert not selector.get_map()
    dial.close()


@pytest.mark.parametrize("frames", [[b""], [_frame(1, b"x")], [_frame(1, b"o"), _frame(1, b"o")]])
def test_nonsense_is_refused(frames: list[bytes]) -> None:
    dial = Dialled()
    bridge = Bridge(dial)
    for frame in frames[:-1]:
        bridge.feed(frame)
    with pytest.raises(ValueError, match=r"N frame|twice"):
        bridge.feed(frames[-1])
    bridge.close()
    dial.close()


def test_too_many_connections_are_refused() -> None:
    dial = Dialled()
    bridge = Bridge(dial)
    for number in range(64):
        bridge.feed(_frame(number, b"o"))
    with pytest.raises(ValueError, match="too many"):
        bridge.feed(_frame(64, b"o"))
    bridge.close()
    dial.close()


def test_nobody_gets_such_frames_who_did_not_ask() -> None:
    job = Job(argv=("true",), env={}, cwd="/")
    heard = Receiver(job.key)
    heard._take(b"N", _frame(1, b"o"))
    assert heard.fault is not None
    early = Receiver(job.key, others={b"N": lambda _: None})
    early._take(b"N", _frame(1, b"o"))
    assert early.fault is not None  # before the code was started
    assert b"bridge" not in job.head(0)
