"""One gVisor sandbox's reports at the host: they wait, within bounds, and are a trace when it has ended."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.sandbox.backends.gvisor import observer
from gate.sandbox.backends.gvisor.observer import ReportedSandbox
from gate.tracing.codec import read_trace
from gate.tracing.readers.gvisor import wire
from tests.unit.tracing.gvisor_packets import CALL, CODE, LAUNCHER, logged, message, packet, raw


def framed(*packets: bytes) -> bytes:
    """As sinks.py joins them."""
    return b"".join(struct.pack("<I", len(each)) + each for each in packets)


BEGIN = framed(
    packet(wire.START, LAUNCHER),
    packet(wire.CLONE, LAUNCHER, f3=CODE, f4=CODE),
    raw("execve"),
    packet(wire.EXECVE, CODE, f6=b"/bin/sh", f7=[b"sh"]),
    packet(wire.RAW, CODE, f2=message(f1=0), f4=CALL["execve"]),
)
UNLINK = framed(raw("unlink"))
END = framed(packet(wire.EXIT_NOTIFY, CODE, f2=0))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[ReportedSandbox]:
    made = ReportedSandbox(tmp_path / "trace.jsonl", events=1000)
    yield made
    made.close()


def told(place: ReportedSandbox) -> list[dict[str, Any]]:
    """The trace so far."""
    return [json.loads(line) for line in place.trace.read_bytes().splitlines()]


def test_reports_become_a_trace_at_the_end_and_not_before(place: ReportedSandbox) -> None:
    place.take(b"t", BEGIN)
    place.take(b"t", UNLINK)
    place.take(b"s", logged("unlink(0x1f /tmp/x)"))
    place.take(b"t", END)
    assert told(place) == []
    place.take(b"e", b"")
    assert place.ended.is_set()
    place.finish()
    completeness, summary = read_trace(place.trace)
    assert completeness.whole
    assert summary is not None
    assert summary.calls == {"execve": 1, "unlink": 1}


def test_a_flood_is_translated_as_it_comes(place: ReportedSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observer, "_HELD_MOST", len(BEGIN) + 3 * len(UNLINK))
    place.take(b"t", BEGIN)
    for _ in range(20):
        place.take(b"t", UNLINK)
        place.take(b"s", logged("unlink(0x1f /tmp/x)"))
    assert len(told(place)) > 10
    place.take(b"e", b"")
    place.finish()
    _, summary = read_trace(place.trace)
    assert summary is not None
    assert summary.calls["unlink"] == 20


def test_a_sandbox_whose_end_was_not_reported_has_no_whole_trace(place: ReportedSandbox) -> None:
    place.take(b"t", BEGIN)
    place.finish()
    completeness, summary = read_trace(place.trace)
    assert not completeness.whole
    assert summary is None


def test_an_observer_that_died_leaves_no_whole_trace(place: ReportedSandbox) -> None:
    place.take(b"t", BEGIN)
    place.ended.set()  # what the reader does when the observer's line ends
    place.finish()
    completeness, _ = read_trace(place.trace)
    assert not completeness.whole


def test_what_comes_too_late_is_not_taken(place: ReportedSandbox) -> None:
    place.take(b"t", BEGIN)
    place.take(b"e", b"")
    place.finish()
    before = place.trace.read_bytes()
    place.take(b"t", UNLINK)
    place.finish()
    assert place.trace.read_bytes() == before
