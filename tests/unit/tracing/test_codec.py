"""The trace vocabulary and its reader: nothing is guessed, nothing is lost without a count."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.inside.observer.text import bytes_of, text_of
from gate.tracing.codec import MAX_LINE, TraceReader, encode, read_trace
from gate.tracing.events import (
    CALL_TYPES,
    Attempt,
    Event,
    Exec,
    Exit,
    Open,
    Process,
    Start,
    Summary,
)

START = Start(seq=0, t=0.0, version=1, tracer="unotify", arch="x86_64", wall=1.0)


def whole(*events: Event, dropped: int = 0, unparsed: int = 0, end: Any = "exited") -> bytes:
    last = Summary(
        seq=len(events) + 1, t=9.0, events=len(events), dropped=dropped, unparsed=unparsed, calls={}, end=end
    )
    return b"".join(map(encode, (START, *events, last)))


def opened(seq: int, path: str = "/etc/passwd") -> Open:
    return Open(seq=seq, t=0.1, pid=7, call="openat", path=path, access="r")


def read(data: bytes) -> tuple[list[Event], TraceReader]:
    reader = TraceReader(io.BytesIO(data))
    return list(reader), reader


@given(st.binary(max_size=300))
def test_text_goes_both_ways(raw: bytes) -> None:
    shown = text_of(raw)
    assert bytes_of(shown) == raw
    assert not any(c < " " or c == "\x7f" for c in shown)
    shown.encode("utf-8")  # never a lone surrogate


@given(st.text(max_size=100))
def test_bytes_of_is_total(shown: str) -> None:
    assert isinstance(bytes_of(shown), bytes)


def test_plain_paths_stay_as_they_are() -> None:
    for path in ("/etc/passwd", "/tmp/a b", "/tmp/\u00e9t\u00e9"):
        assert text_of(path.encode()) == path


def test_whole_trace() -> None:
    events, reader = read(whole(opened(1), opened(2)))
    assert len(events) == 4
    assert reader.completeness.whole
    assert reader.start == START


@pytest.mark.parametrize(
    ("data", "dropped", "unparsed", "truncated"),
    [
        (b"", 0, 0, True),
        (encode(START), 0, 0, True),
        (whole(opened(1), dropped=5), 5, 0, False),
        (whole(opened(1), unparsed=2), 0, 2, False),
        (whole(opened(1), end="error"), 0, 0, True),
        (whole(opened(1), end="deadline"), 0, 0, True),
        (whole(opened(1), end="killed"), 0, 0, True),
        (whole(opened(1))[:-5], 0, 1, True),
        (whole(opened(1)) + encode(opened(3)), 0, 1, False),
        (whole(opened(1)) * 2, 0, 3, False),
        (encode(START) + whole(opened(1)), 1, 1, False),
        (whole(opened(1)).split(b"\n", 1)[1], 1, 0, True),
        (whole(opened(2)), 2, 0, False),
        (whole(opened(1)).replace(b'"pid":7', b'"pid":"7"'), 0, 1, True),
        (whole(opened(1)).replace(b'"pid":7', b'"pid":7,"new":1'), 0, 1, True),
        (whole(opened(1)).replace(b'"version":1', b'"version":2'), 0, 1, True),
        (whole(opened(1)).replace(b'"ev":"open"', b'"ev":"later"'), 0, 1, True),
        (whole(opened(1)).replace(b"/etc/passwd", b"\xff"), 0, 1, True),
        (whole(opened(1)).replace(b"/etc/passwd", b"x" * (MAX_LINE + 100)), 1, 1, True),
    ],
)
def test_whatever_is_lost_is_counted(data: bytes, dropped: int, unparsed: int, truncated: bool) -> None:
    _, reader = read(data)
    got = reader.completeness
    assert not got.whole
    assert (got.dropped, got.unparsed, got.truncated) == (dropped, unparsed, truncated)


def test_unfinished_reading_is_not_whole() -> None:
    reader = TraceReader(io.BytesIO(whole(opened(1))))
    next(iter(reader))
    assert reader.completeness.truncated


def test_missing_file_is_truncated(tmp_path: Path) -> None:
    completeness, summary = read_trace(tmp_path / "none")
    assert completeness.truncated
    assert summary is None


@given(st.lists(st.binary(max_size=80), max_size=10))
def test_noise_never_raises_and_is_never_whole(lines: list[bytes]) -> None:
    _, reader = read(b"\n".join(lines))
    assert not reader.completeness.whole


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    sorted({f for kind in (Start, Process, Exit, Summary, *CALL_TYPES) for f in kind.__struct_fields__})
)
TAGS = st.sampled_from(
    sorted(str(k.__struct_config__.tag) for k in (Start, Process, Exit, Summary, *CALL_TYPES))
)


@given(
    st.fixed_dictionaries({"ev": TAGS, "seq": st.integers(), "t": st.floats()}), st.dictionaries(NAMES, JSON)
)
def test_a_line_is_its_own_event_or_nothing(head: dict[str, Any], more: dict[str, Any]) -> None:
    """Whatever decodes says the same when encoded again: no field is invented, moved or lost."""
    line = {**more, **head}
    try:
        raw = json.dumps(line, allow_nan=False).encode()
    except ValueError:
        return
    events, reader = read(raw + b"\n")
    if not events:
        assert reader.completeness.unparsed == 1
        return
    again = msgspec.json.decode(encode(events[0]))
    assert again.items() <= {k: list(v) if isinstance(v, tuple) else v for k, v in line.items()}.items()


def test_long_fields_are_refused() -> None:
    line = encode(opened(1)).replace(b"/etc/passwd", b"x" * 70000)
    assert read(line)[1].completeness.unparsed == 1
    many = Exec(seq=1, t=0.0, pid=1, call="execve", path="/x", argv=("a",) * 64)
    assert read(encode(many))[1].completeness.unparsed == 0
    too_many = encode(many).replace(b'["a",', b'["a","a",')
    assert read(too_many)[1].completeness.unparsed == 1


def test_opening_for_writing() -> None:
    cases = {("w", ""): True, ("rw", ""): True, ("r", ""): False, ("r", "O_CREAT"): True, ("path", ""): False}
    for (access, flags), writes in cases.items():
        event = Open(seq=1, t=0.0, pid=1, call="open", path="/x", access=access, flags=flags)  # type: ignore[arg-type]
        assert event.writes is writes


def test_every_kind_survives_the_trip() -> None:
    attempt = Attempt(seq=3, t=0.5, pid=4, call="ptrace", denied=True, errno="EPERM", number=101, detail="x")
    process = Process(seq=4, t=0.5, pid=4, ppid=1, exe="/bin/sh", comm="sh", inner=2, why="exec")
    events, _ = read(encode(attempt) + encode(process))
    assert events == [attempt, process]
