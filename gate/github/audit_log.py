"""An append-only log of decisions: JSON lines, each sealed with the hash of the one before.

Changing, removing or inserting a line breaks every seal after it. Cutting off the end cannot be seen
from the file alone: keep the last seal elsewhere and give it to :func:`verify`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec

from gate.errors import GateError, UsageError

START: Final = "0" * 64
_MOST_LINE: Final = 1 << 20
_Seal = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line. ``number`` counts from 1, ``at`` is seconds since 1970, ``what`` is flat text."""

    number: int
    at: int
    what: dict[str, str]
    before: _Seal
    seal: _Seal


class AuditError(GateError):
    """The log is not what it was; ``line`` counts from 1."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(
            f"{path}, line {line}: {why}",
            advice="Do not trust the log from this line on; find out who wrote.",
        )
        self.line = line


def _seal(number: int, at: int, what: Mapping[str, str], before: str) -> str:
    packed = msgspec.json.encode([number, at, dict(what), before], order="deterministic")
    return hashlib.sha256(packed).hexdigest()


def append(path: Path, what: Mapping[str, str], *, at: int) -> AuditEntry:
    """Add one decision at the end and put it on disk. One writer at a time (``flock``).

    The whole log is verified first: nothing is ever added to a broken one. Raises AuditError, UsageError.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UsageError(f"cannot write the audit log {path}: {error.strerror}") from error
    with os.fdopen(handle, "r+b") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.seek(0)
        count, before = _walk(path, log.read())
        sealed = _seal(count + 1, at, what, before)
        entry = AuditEntry(number=count + 1, at=at, what=dict(what), before=before, seal=sealed)
        log.write(msgspec.json.encode(entry, order="deterministic") + b"\n")
        log.flush()
        os.fsync(log.fileno())
    return entry


def verify(path: Path, *, last: str | None = None) -> tuple[int, str]:
    """How many entries the log has, and its last seal (START for none).

    ``last``: a seal kept elsewhere that must still be in the log. Raises AuditError, or UsageError when the
    file cannot be read.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the audit log {path}: {error.strerror}") from error
    count, seal = _walk(path, raw, last)
    return count, seal


def _walk(path: Path, raw: bytes, last: str | None = None) -> tuple[int, str]:
    before, count, seen = START, 0, last in (None, START)
    if raw and not raw.endswith(b"\n"):
        raise AuditError(path, raw.count(b"\n") + 1, "the line is not whole")
    for count, line in enumerate(raw.split(b"\n")[:-1], 1):
        if len(line) > _MOST_LINE:
            raise AuditError(path, count, "the line is too long")
        try:
            entry = msgspec.json.decode(line, type=AuditEntry)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise AuditError(path, count, "the line is not an entry") from error
        if msgspec.json.encode(entry, order="deterministic") != line:
            raise AuditError(path, count, "the line is not as it was written")
        if entry.number != count or entry.before != before:
            raise AuditError(path, count, "it does not follow the line before")
        if _seal(entry.number, entry.at, entry.what, entry.before) != entry.seal:
            raise AuditError(path, count, "its text was changed")
        before = entry.seal
        seen = seen or before == last
    if not seen:
        raise AuditError(path, count + 1, "the seal that was kept is not in it: its end was cut off")
    return count, before
