"""When something was first seen: by the trace's clock, also for what only the sinkhole saw."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gate.model.behaviour import BehaviourKind
from gate.tracing.readers import sinkhole
from tests.unit.tracing.trace_builder import Trace

_ADDRESS = "203.0.113.7"


def _log(path: Path) -> Path:
    """A sinkhole that began 2 s before the trace: a connection 4 ms into it, a request 100 ms later."""
    made = sinkhole.TcpConnection(seq=1, t=2.004, id=1, addr=_ADDRESS, port=80, name="", source=4000)
    asked = sinkhole.HttpRequest(
        seq=2,
        t=2.104,
        id=1,
        scheme="http",
        method="POST",
        target=b"/in",
        headers=(),
        body=b"",
        size=0,
        status=200,
    )
    end = sinkhole.Summary(seq=3, lines=3, dropped=0, cut=0, connections=1, datagrams=0, refused=0)
    lines = (sinkhole.Start(seq=0, version=1), made, asked, end)
    path.write_bytes(b"\n".join(map(msgspec.json.encode, lines)) + b"\n")
    return path


def test_times_are_seconds_from_the_beginning_of_the_run(tmp_path: Path) -> None:
    trace = Trace().open("/etc/shadow").net("connect", _ADDRESS, 80).open("/etc/shadow")
    seen = trace.seen(tmp_path, network=_log(tmp_path / "net.jsonl"))
    times = {b.kind: b.first_seen for b in seen}
    opened, connected = trace.events[-3].t, trace.events[-2].t
    assert times[BehaviourKind.READ] == opened  # the first of two
    assert times[BehaviourKind.CONNECT] == connected
    assert times[BehaviourKind.HTTP] == pytest.approx(connected + 0.1)


def test_what_no_clock_saw_has_no_time(tmp_path: Path) -> None:
    (one,) = (b for b in Trace().seen(tmp_path, stdout=b"", completed=False) if b.kind is BehaviourKind.EXIT)
    assert one.first_seen is None
