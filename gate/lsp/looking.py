"""What the language server tells about one open file, without the protocol.

The text is the editor's, the other side is HEAD's version of the file. While somebody types the file is only
read; it runs when they ask for it, and then in a sandbox.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from gate import api
from gate.change.files import open_paths
from gate.change.interface import OpenChange
from gate.change.uncommitted import open_buffer
from gate.dataclass import dataclass
from gate.errors import NothingToJudgeError, UsageError
from gate.escape import visible
from gate.model.behaviour import Behaviour
from gate.model.finding import Finding
from gate.model.report import Report
from gate.model.rule import FindingStage, Severity
from gate.report.incidents import last_line
from gate.report.rule_pages import page_url

LARGEST: Final = 1 << 20
"""Characters of a file that is looked at."""
_TEXT: Final = 400
_MOST: Final = 200
_READ: Final = frozenset({FindingStage.PRESCREEN, FindingStage.POLICY})


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """Lines of the file (from 1, both included) and what is said of them. ``rule`` empty: something that the
    file was seen to do, which is no finding. ``message`` may hold text of the file, hidden characters shown.
    """

    line: int
    end_line: int
    message: str
    severity: Severity | None = None
    rule: str = ""
    page: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """What came of running the file: one line for people, and remarks."""

    said: str
    remarks: tuple[Remark, ...]


def read_file(file: Path, text: str, chosen: api.Chosen) -> tuple[Remark, ...]:
    """The static look: what it finds in what HEAD has not. Raises UsageError, InconclusiveError."""
    if len(text) > LARGEST:
        return ()
    try:
        with _opened(file, text) as (opened, loose):
            off = replace(chosen, flags={**chosen.flags, "sandbox.enabled": (False, "while typing")})
            report = api.check_opened(opened, off, settled=loose)
    except NothingToJudgeError:
        return ()
    # That nothing ran is no news while somebody types: what only says so is left out.
    found = [f for f in report.findings if f.stage in _READ and not f.rule_id.startswith("unrun-")]
    return _remarks(report, found)


def run_file(file: Path, text: str, chosen: api.Chosen) -> Ran:
    """The whole check of the file, in a sandbox. Raises UsageError, InconclusiveError."""
    try:
        with _opened(file, text) as (opened, loose):
            report = api.check_opened(opened, chosen, settled=loose)
    except NothingToJudgeError:
        return Ran(said="the file is as at HEAD: nothing to run", remarks=())
    seen = [_seen(one, report) for one in report.behaviour.new[:_MOST]]
    return Ran(said=_clean(last_line(report)), remarks=(*_remarks(report, report.findings), *seen))


def _seen(one: Behaviour, report: Report) -> Remark:
    """Where the code itself says that it was; at the top, if that is another file or not known."""
    here = one.at is not None and one.at.path == report.change.files[0].path
    line = one.at.line if here and one.at is not None and one.at.line else 1
    text = f"seen in the sandbox: {one.kind.value} {one.subject} ({one.actor})"
    return Remark(line=line, end_line=line, message=_clean(text))


@contextmanager
def _opened(file: Path, text: str) -> Iterator[tuple[OpenChange, bool]]:
    """The file as a change; True where it belongs to no repository with a commit, and all of it is new."""
    data = text.encode("utf-8", "surrogateescape")
    try:
        opened = open_buffer(file, data)
    except NothingToJudgeError:
        raise
    except UsageError:
        with tempfile.TemporaryDirectory(prefix="gate-lsp-") as folder:
            copy = Path(folder) / file.name
            copy.write_bytes(data)
            yield open_paths([copy]), True
        return
    yield opened, False


def _remarks(report: Report, findings: Sequence[Finding]) -> tuple[Remark, ...]:
    """Those of the changed file; one without a line stands at the top."""
    paths = {file.path for file in report.change.files}
    return tuple(
        Remark(
            line=f.primary.line or 1,
            end_line=f.primary.end_line or f.primary.line or 1,
            message=_clean(f.message),
            severity=f.severity,
            rule=f.rule_id,
            page=page_url(f.rule_id, report.rules),
        )
        for f in findings[:_MOST]
        if f.primary.path in paths
    )


def _clean(text: str) -> str:
    shown = visible(text[: _TEXT * 2])
    return shown if len(shown) <= _TEXT else f"{shown[:_TEXT]}..."
