"""Frames come whole out of a stream, however it is cut; the senders in the sandbox have the same head."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.inside.observer import many, sinks
from gate.inside.sinkhole import __main__ as sinkhole
from gate.sandbox.frames import LONGEST, Frame, FrameReader, write_all

FRAMES = st.lists(
    st.tuples(
        st.binary(min_size=16, max_size=16), st.sampled_from([b"t", b"r", b"e"]), st.binary(max_size=80)
    )
)


def _stream(frames: list[Frame]) -> bytes:
    return b"".join(many.HEAD.pack(token, kind, len(data)) + data for token, kind, data in frames)


@given(FRAMES, st.lists(st.integers(1, 60), min_size=1))
def test_frames_come_whole_however_the_stream_is_cut(frames: list[Frame], sizes: list[int]) -> None:
    stream, reader = _stream(frames), FrameReader()
    found: list[Frame] = []
    while stream:
        for size in sizes:
            found += reader.feed(stream[:size])
            stream = stream[size:]
    assert found == frames


def test_a_frame_too_long_is_refused_after_those_before_it() -> None:
    first: Frame = (b"a" * 16, b"t", b"x")
    found: list[Frame] = []
    with pytest.raises(ValueError, match="too long"):
        found.extend(FrameReader().feed(_stream([first]) + many.HEAD.pack(b"b" * 16, b"t", LONGEST + 1)))
    reader = FrameReader().feed(_stream([first]) + many.HEAD.pack(b"b" * 16, b"t", LONGEST + 1))
    assert next(reader) == first


def test_the_senders_have_the_same_head() -> None:
    assert many.HEAD.format == sinks.HEAD.format == sinkhole.HEAD.format


def test_everything_is_written() -> None:
    read, write = os.pipe()
    try:
        write_all(write, b"x" * 5000)
        assert os.read(read, 9000) == b"x" * 5000
    finally:
        os.close(read)
        os.close(write)
