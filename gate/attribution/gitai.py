"""Evidence in git notes of the git-ai standard (``refs/notes/ai``, authorship/3.x).

A note is an attestation, a line ``---`` and one JSON object. Only attested lines count: metadata
alone does not mean that lines survived. Notes can hold whole conversations: nothing of a body is
ever shown but the tool's and the model's name.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

import msgspec

from gate.attribution.rule_file import attribution_rules
from gate.attribution.spans import Spans, merged
from gate.dataclass import dataclass
from gate.regex import regex

_ENTRY: Final = regex(r"  (?P<key>\S+) (?P<ranges>\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*)")
_LEGACY: Final = regex(r"[0-9a-f]{7,16}")
_UUID: Final = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAME: Final = regex(r"[\w .:/@+-]{1,60}")


class _Agent(msgspec.Struct):
    tool: str = ""
    model: str = ""


class _Record(msgspec.Struct):
    agent_id: _Agent | None = None


class _Metadata(msgspec.Struct):
    prompts: dict[str, _Record] = msgspec.field(default_factory=dict)
    sessions: dict[str, _Record] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class GitAiNote:
    """What one note attests. ``unread`` counts entries that no rule of the format explains."""

    lines: dict[tuple[str, str], Spans] = field(default_factory=dict)
    """(path, tool) -> lines."""
    models: tuple[str, ...] = ()
    unread: int = 0


def parse_note(body: bytes) -> GitAiNote | None:
    """The note's AI attestations; None when the body is not of this format."""
    text = body.decode("utf-8", "replace")
    head, cut, tail = ("", "---\n", text[4:]) if text.startswith("---\n") else text.partition("\n---\n")
    if not cut:
        return None
    try:
        metadata = msgspec.json.decode(tail.encode("utf-8"), type=_Metadata)
    except (msgspec.MsgspecError, RecursionError):
        metadata = _Metadata()
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    models: dict[str, None] = {}
    path, unread = "", 0
    for line in head.split("\n"):
        entry = _ENTRY.fullmatch(line)
        if entry and path:
            agent = _agent(entry["key"], metadata)
            if agent is None:
                continue
            found.setdefault((path, agent.tool), []).extend(_ranges(entry["ranges"]))
            if agent.model:
                models[agent.model] = None
        elif line and not line.startswith(" "):
            path = _path(line)
        elif line:
            unread += 1
    lines = {key: merged(spans) for key, spans in found.items() if spans}
    return GitAiNote(lines=lines, models=tuple(models)[:20], unread=unread)


def _agent(key: str, metadata: _Metadata) -> _Agent | None:
    """The tool behind an attestation key; None for people and for test doubles."""
    session = key.partition("::")[0]
    if key == "human" or session.startswith("h_"):
        return None
    record = metadata.sessions.get(session) or metadata.prompts.get(key)
    known = session.startswith("s_") or key == "ai_agent" or _LEGACY.fullmatch(key) or _UUID.fullmatch(key)
    if record is None and not known:
        return None
    agent = record.agent_id if record and record.agent_id else _Agent()
    notes = attribution_rules().notes
    if agent.tool in notes.ignored_tools:
        return None
    tool = _clean(agent.tool) or "git-ai"
    return _Agent(tool=notes.aliases.get(tool.lower(), tool), model=_clean(agent.model))


def _clean(text: str) -> str:
    """Only what a tool's or model's name looks like leaves a note."""
    return text if _NAME.fullmatch(text) and text != "unknown" else ""


def _ranges(text: str) -> list[tuple[int, int]]:
    spans = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        start, end = int(first), int(last or first)
        if 0 < start <= end:
            spans.append((start, end))
    return spans


def _path(line: str) -> str:
    if len(line) > 1 and line.startswith('"') and line.endswith('"'):
        try:
            return msgspec.json.decode(line.encode("utf-8"), type=str)
        except msgspec.MsgspecError:
            return line[1:-1]
    return line
