"""Coverage-guided fuzzing of everything that reads hostile bytes of a run.

``python -m tests.hostile.fuzz_trace -runs=200000`` (libFuzzer's options; a folder as last argument keeps
the corpus). The first byte picks the reader. An uncaught exception or a broken promise is a crash.
"""

from __future__ import annotations

import io
import sys

import atheris

with atheris.instrument_imports(include=["gate.trace", "gate.sandbox.channel", "gate.sandbox.observer"]):
    from gate.sandbox.channel import Receiver
    from gate.sandbox.observer import text
    from gate.sandbox.observer.network import address_fields
    from gate.sandbox.observer.target import Unreadable
    from gate.trace.codec import TraceReader, encode
    from gate.trace.events import Net, text_bytes, text_of


def trace(data: bytes) -> None:
    """Whatever the reader takes, it takes again in the same way after encoding."""
    reader = TraceReader(io.BytesIO(data))
    events = list(reader)
    again = TraceReader(io.BytesIO(b"".join(map(encode, events))))
    assert list(again) == events
    assert reader.completeness.truncated or events


def frames(data: bytes) -> None:
    """Without the key there is no result."""
    heard = Receiver(b"k" * 32)
    heard.feed(data[:7])
    heard.feed(data[7:])
    heard.close()
    assert heard.fault is not None
    assert heard.end is None


def escapes(data: bytes) -> None:
    """There and back, the same at both ends."""
    assert text_bytes(text_of(data)) == data
    assert text.text_of(data) == text_of(data)


def addresses(data: bytes) -> None:
    """A socket address decodes to a line that the strict reader takes, or not at all."""
    try:
        fields = address_fields(data[:128])
    except Unreadable:
        return
    line = encode(Net(seq=0, t=0.0, pid=1, call="connect", **fields))
    assert TraceReader(io.BytesIO(line)).__iter__().__next__() is not None


READERS = (trace, frames, escapes, addresses)


def one(data: bytes) -> None:
    """One input."""
    if data:
        READERS[data[0] % len(READERS)](data[1:])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
