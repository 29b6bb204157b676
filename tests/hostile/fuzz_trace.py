"""Coverage-guided fuzzing of everything that reads hostile bytes of a run.

``python -m tests.hostile.fuzz_trace -runs=200000`` (libFuzzer's options; a folder as last argument keeps
the corpus). The first byte picks the reader. An uncaught exception or a broken promise is a crash.
"""

from __future__ import annotations

import io
import sys

import atheris

with atheris.instrument_imports(include=["gate.tracing", "gate.sandbox.protocol", "gate.inside.observer"]):
    from gate.inside.observer.network import address_fields
    from gate.inside.observer.target import UnreadableError
    from gate.inside.observer.text import bytes_of, text_of
    from gate.sandbox.protocol import Receiver
    from gate.tracing.codec import TraceReader, encode
    from gate.tracing.events import Net


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
    """There and back."""
    assert bytes_of(text_of(data)) == data


def addresses(data: bytes) -> None:
    """A socket address decodes to a line that the strict reader takes, or not at all."""
    try:
        fields = address_fields(data[:128])
    except UnreadableError:
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
