"""Evidence in Agent Trace records (RFC 0.1.0): ``.agent-trace/traces.jsonl`` in the tree, or a git note.

The file travels with the change and anybody can write it: strong, never definite. The reference
writer stores the *parent* of the commit that will hold the lines; pseudo-paths are no files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from gate.attribution.spans import Spans, merged
from gate.dataclass import dataclass

TRACE_PATH: Final = ".agent-trace/traces.jsonl"
_BYTES: Final = 8 << 20
_RECORDS: Final = 5_000
_PSEUDO: Final = frozenset({".sessions", ".shell-history", ".unknown"})


class _Contributor(msgspec.Struct):
    type: str = "unknown"
    model_id: str | None = None


class _Range(msgspec.Struct):
    start_line: int
    end_line: int
    contributor: _Contributor | None = None


class _Conversation(msgspec.Struct):
    ranges: list[_Range]
    contributor: _Contributor | None = None


class _File(msgspec.Struct):
    path: str
    conversations: list[_Conversation] = msgspec.field(default_factory=list)


class _Vcs(msgspec.Struct):
    revision: str = ""


class _Tool(msgspec.Struct):
    name: str = ""


class _Trace(msgspec.Struct):
    version: str
    files: list[_File]
    vcs: _Vcs | None = None
    tool: _Tool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceRecord:
    """One record: at which revision it was written and which lines it gives to which tool."""

    revision: str
    lines: dict[tuple[str, str], Spans]


def parse_traces(body: bytes) -> Iterator[TraceRecord]:
    """The last 5,000 records of a JSON-lines file, or of a note that holds one record."""
    cut = body[-_BYTES:]
    rows = cut.split(b"\n") if body.count(b"\n{") or body.startswith(b"{") else []
    found = False
    for row in rows[-_RECORDS:]:
        record = _record(row)
        if record:
            found = True
            yield record
    if not found and len(body) <= _BYTES and (whole := _record(body)):
        yield whole


def _record(raw: bytes) -> TraceRecord | None:
    try:
        trace = msgspec.json.decode(raw, type=_Trace)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    tool = (trace.tool.name if trace.tool else "")[:60] or "agent-trace"
    lines: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for file in trace.files:
        if file.path in _PSEUDO:
            continue
        for talk in file.conversations:
            for span in talk.ranges:
                by = span.contributor or talk.contributor
                if by and by.type in ("ai", "mixed") and 0 < span.start_line <= span.end_line:
                    lines.setdefault((file.path, tool), []).append((span.start_line, span.end_line))
    revision = trace.vcs.revision if trace.vcs else ""
    return TraceRecord(revision=revision, lines={key: merged(spans) for key, spans in lines.items()})
