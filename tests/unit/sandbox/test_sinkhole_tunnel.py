"""The host's part of a network that comes in packets: what it believes, and what it gives up."""

from __future__ import annotations

import selectors
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import InconclusiveError
from gate.sandbox.sinkhole_host.tunnel import Tunnel


def framed(*packets: bytes) -> bytes:
    return b"".join(struct.pack(">H", len(packet)) + packet for packet in packets)


@given(sizes=st.lists(st.integers(1, 40_000), max_size=12))
def test_packets_go_on_whole_and_in_order_in_parts_that_a_local_socket_carries(sizes: list[int]) -> None:
    sent: list[bytes] = []
    tunnel = Tunnel(sent.append)
    payload = framed(*(bytes([n % 251]) * size for n, size in enumerate(sizes)))
    tunnel.feed(payload)
    tunnel.close()
    assert b"".join(sent) == payload
    assert all(0 < len(part) <= 48 << 10 for part in sent)


@pytest.mark.parametrize("payload", [b"\0", b"\0\0", b"\0\5abc", framed(b"x") + b"\1"])
def test_a_frame_that_makes_no_sense_is_refused(payload: bytes) -> None:
    tunnel = Tunnel(lambda _: None)
    with pytest.raises(ValueError, match="P frame"):
        tunnel.feed(payload)
    tunnel.close()


def test_packets_for_the_sandbox_wake_the_conversation() -> None:
    tunnel = Tunnel(lambda _: None)
    with selectors.DefaultSelector() as selector:
        tunnel.join(selector)
        assert not selector.select(0)
        tunnel.arrived(framed(b"a"))
        tunnel.arrived(framed(b"b"))
        ((key, _),) = selector.select(1)
        key.data()
        assert not selector.select(0)
        owed = [tunnel.has_pending]
        assert tunnel.take() == framed(b"a", b"b")
        assert [*owed, tunnel.has_pending] == [True, False]
        selector.unregister(key.fileobj)
    tunnel.close()
    tunnel.close()
    tunnel.arrived(framed(b"late"))
    assert tunnel.take() == b""


def test_what_the_sandbox_does_not_take_in_is_lost_not_kept() -> None:
    tunnel = Tunnel(lambda _: None)
    for _ in range(200):
        tunnel.arrived(framed(bytes(32_000)))
    assert len(tunnel.take()) <= 4 << 20
    tunnel.close()


def test_a_sinkhole_that_is_gone_is_told_by_its_log_not_by_an_error() -> None:
    def gone(_: bytes) -> None:
        raise InconclusiveError("gone", advice="")

    tunnel = Tunnel(gone)
    tunnel.feed(framed(b"x"))
    tunnel.close()
