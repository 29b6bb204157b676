"""Reads many changed program files in limited child processes, one bad file never costing the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gate.languages.sensitive_calls.table import table_of
from gate.languages.sensitive_calls.unreadable import unreadable
from gate.model.sensitive import SourceReading, SourceText

PER_FILE: Final = 3.0
"""Seconds of processor time one file may take; the slowest real file of 1 MB seen took 0.6 s."""


def read_sources(
    files: Sequence[SourceText], *, deadline: float, scratch: Path | None = None
) -> Mapping[str, SourceReading]:
    """What every program file among ``files`` says, by path. Other files (prose, data) have no entry.

    ``deadline`` is seconds of wall time for all of them: what it leaves no time for is not readable, with
    that as its reason. ``scratch`` is a folder of ours; nothing is written there today, since
    texts go through a pipe.

    Raises InconclusiveError when no child process can be started.
    """
    from gate.languages.limited_child import Reader, scan_isolated

    del scratch
    readings: dict[str, SourceReading] = {}
    parsed: list[tuple[str, bytes]] = []
    shown: list[str] = []
    """What the parser is told of each path: it tells languages by it."""
    for file in files:
        language = table_of(file.path, file.text) or ("shell" if file.shell else None)
        if language is None:
            continue
        why = unreadable(file.text)
        if why:
            readings[file.path] = SourceReading(language=language, readable=False, reason=why)
        else:
            parsed.append((file.path, file.text))
            shown.append(file.path if table_of(file.path, file.text) else f"{file.path}.sh")
    results = scan_isolated(
        Reader("gate.languages.sensitive_calls.parse:read_one", SourceReading, pure=True, per_file=PER_FILE),
        [(name, text) for name, (_, text) in zip(shown, parsed, strict=True)],
        deadline=deadline,
    )
    for (path, text), result in zip(parsed, results, strict=True):
        readings[path] = result.value or SourceReading(
            language=table_of(path, text) or "", readable=False, reason=result.reason
        )
    return readings
