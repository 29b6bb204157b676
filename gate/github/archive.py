"""One file out of a ZIP archive that a stranger made: bounded memory, bounded time, nothing extracted.

The end record is judged before anything is parsed: `zipfile` reads the whole central directory into objects
(1.4 million entries took 644 MiB) and decompresses by methods that a report never needs (670 bytes of bzip2
took 1.4 GiB). Source: PKWARE APPNOTE 6.3.10, 4.3.16 (end record), 4.3.15 (ZIP64 locator), 4.4.5 (methods).
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Final

from gate.errors import UsageError

MOST_ENTRIES: Final = 1_000
MOST_DIRECTORY: Final = 256 << 10
"""Bytes of the central directory: what bounds the entries that are really parsed."""
_END: Final = struct.Struct("<4s4H2LH")
_LOCATOR_BYTES: Final = 20
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1 | 0x40
_BROKEN: Final = (
    zipfile.BadZipFile, zlib.error, struct.error, OSError, ValueError, RuntimeError, EOFError, IndexError,
    OverflowError,
)  # fmt: skip


def read_member(archive: bytes, member: str, most: int) -> bytes:
    """The bytes of exactly one regular file at the archive's root, ``most`` of them at most.

    Raises UsageError for everything else: other methods than stored and deflated, encryption, ZIP64,
    comments, more entries than MOST_ENTRIES, and every archive that contradicts itself.
    """
    _judge_end(archive)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            found = _only(opened, member, most)
            with opened.open(found) as stream:
                raw = stream.read(most + 1)
                if len(raw) <= most and stream.read(1):
                    raise UsageError(f"{member} in the artifact is longer than it says")
    except _BROKEN as error:
        raise UsageError(f"the artifact is no archive that can be read ({type(error).__name__})") from error
    if len(raw) > most:
        raise _too_large(member, most)
    return raw


def _judge_end(archive: bytes) -> None:
    """Raises UsageError unless the last 22 bytes are a plain end record of a small directory before it."""
    if len(archive) < _END.size or archive[-_END.size :][:4] != b"PK\x05\x06":
        raise UsageError("the artifact is no archive that can be read (no end record)")
    fields = _END.unpack(archive[-_END.size :])
    _, disk, first_disk, here, entries, size, offset, comment = fields
    before = len(archive) - _END.size
    if archive[max(0, before - _LOCATOR_BYTES) : before][:4] == b"PK\x06\x07" or 0xFFFF in (here, entries):
        raise UsageError("the artifact is a ZIP64 archive, which no report needs")
    if disk or first_disk or here != entries or comment or offset + size != before:
        raise UsageError("the artifact is no archive that can be read (its end record contradicts it)")
    if entries > MOST_ENTRIES or size > MOST_DIRECTORY:
        raise UsageError(f"the artifact holds more than {MOST_ENTRIES:,} files")


def _only(opened: zipfile.ZipFile, member: str, most: int) -> zipfile.ZipInfo:
    named = [info for info in opened.infolist() if info.filename == member]
    if len(named) != 1:
        raise UsageError(f"the artifact holds {len(named)} files named {member}")
    found = named[0]
    if found.external_attr >> 28 not in (0, 0o10):  # no mode at all, or a regular file
        raise UsageError(f"{member} in the artifact is no regular file")
    if found.compress_type not in _METHODS or found.flag_bits & _ENCRYPTED:
        raise UsageError(f"{member} in the artifact is neither stored nor deflated")
    if found.file_size > most:
        raise _too_large(member, most)
    return found


def _too_large(member: str, most: int) -> UsageError:
    return UsageError(f"{member} in the artifact is larger than {most >> 20} MiB")
