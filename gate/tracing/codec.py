"""Trace files to events: strict, streaming, capped; what cannot be read is counted, never guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from gate.model.run import Completeness
from gate.tracing.events import VERSION, Event, Start, Summary

MAX_LINE: Final = 512 << 10
"""Bytes of one line; no tracer of ours writes a longer one."""
_DECODER: Final = msgspec.json.Decoder(Event)


class TraceReader:
    """Iterate over the events of one trace; then ``completeness`` says what was lost.

    A trace is whole when its first line is ``start`` of a version we know, ``seq`` runs without a gap,
    the last line is ``summary``, its counts agree with the lines, and the tracer itself lost nothing.
    Lines that are no valid event count as ``unparsed`` and are skipped; never raises for content.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.summary: Summary | None = None
        self.start: Start | None = None
        self._bad = 0
        self._gaps = 0
        self._calls = 0
        self._done = False

    def __iter__(self) -> Iterator[Event]:
        expected = 0
        for line in self._lines():
            try:
                event = _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self._bad += 1
                expected += 1
                continue
            if self.summary is not None:  # nothing may follow the summary
                self._bad += 1
                continue
            if event.seq != expected:
                self._gaps += 1
            expected = event.seq + 1
            if isinstance(event, Start):
                if self.start is not None or event.seq != 0:
                    self._bad += 1
                    continue
                self.start = event
            elif isinstance(event, Summary):
                self.summary = event
            else:
                self._calls += 1
            yield event
        self._done = True

    def _lines(self) -> Iterator[bytes]:
        while line := self._stream.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                self._bad += 1
                while line and not line.endswith(b"\n"):
                    line = self._stream.readline(MAX_LINE)
                continue
            if not line.endswith(b"\n"):  # cut in the middle
                self._bad += 1
                return
            yield line

    @property
    def completeness(self) -> Completeness:
        """What was lost. Before the iteration is through, and without a proper end: truncated."""
        end = self.summary
        truncated = not self._done or end is None or self.start is None or end.end != "exited"
        lost = end.dropped if end is not None else 0
        if end is not None and end.events != self._calls:
            truncated = True
        return Completeness(
            dropped=lost + self._gaps,
            unparsed=self._bad + (end.unparsed if end is not None else 0),
            truncated=truncated,
        )


def read_trace(
    path: Path, each: Callable[[Event], None] | None = None
) -> tuple[Completeness, Summary | None]:
    """Read one trace file, handing every event to ``each``. A missing file is a truncated trace."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return Completeness(truncated=True), None
    with stream:
        reader = TraceReader(stream)
        for event in reader:
            if each is not None:
                each(event)
        return reader.completeness, reader.summary


def encode(event: Event) -> bytes:
    """One line of a trace."""
    return msgspec.json.encode(event) + b"\n"


__all__ = ["MAX_LINE", "VERSION", "TraceReader", "encode", "read_trace"]
