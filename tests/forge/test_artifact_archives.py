"""Archives that a stranger made: refused with a reason, in little memory, whatever is in them (GH-3)."""

from __future__ import annotations

import bz2
import contextlib
import io
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.github.archive import MOST_ENTRIES, read_member
from tests.forge.telling import packed

NAME, MOST = "report.json", 1 << 20
PLAIN = packed(b'{"a": 1}' * 50)


def _zipped(data: bytes, method: int = zipfile.ZIP_DEFLATED, name: str = NAME, times: int = 1) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as archive:
        warnings.simplefilter("ignore")
        for _ in range(times):
            archive.writestr(name, data)
    return out.getvalue()


def _bz2_bomb() -> bytes:
    """Blocks of zeros that bzip2 packs 100,000 to one; `zipfile` unpacks a whole chunk of them at once."""
    raw = bz2.compress(b"\0" * (64 << 20))
    made = bytearray(_zipped(raw, zipfile.ZIP_STORED))
    for mark, where in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", made, made.index(mark) + where, zipfile.ZIP_BZIP2)
    return bytes(made)


def _crowd(entries: int) -> bytes:
    """An archive whose directory has many entries and a lying count."""
    central = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    body = (central + b"a") * entries
    return body + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(body), 0, 0)


def _corrupt() -> bytes:
    made = bytearray(PLAIN)
    at = 30 + len(NAME)
    made[at : at + 20] = b"\xff" * 20
    return bytes(made)


def _encrypted() -> bytes:
    made = bytearray(PLAIN)
    made[6] |= 1
    made[made.rfind(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def _zip64() -> bytes:
    """The locator of a ZIP64 record right before the end record: `zipfile` believes that one instead."""
    return PLAIN[:-22] + struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1) + PLAIN[-22:]


BAD: dict[str, Callable[[], bytes]] = {
    "bzip2 bomb": _bz2_bomb,
    "lzma": lambda: _zipped(b"x" * 100, zipfile.ZIP_LZMA),
    "corrupt deflate": _corrupt,
    "1.4 million entries": lambda: _crowd(1_400_000),
    "zip64": _zip64,
    "encrypted": _encrypted,
    "two of the name": lambda: _zipped(b"{}", times=2),
    "comment": lambda: PLAIN[:-2] + b"\x04\x00abcd",
    "prepended": lambda: b"x" * 10 + PLAIN,
    "deflate bomb": lambda: _zipped(b"\0" * (100 << 20)),
    "too many": lambda: _zipped(b"", name="x", times=MOST_ENTRIES + 1),
    "cut": lambda: PLAIN[:-1],
}


@pytest.mark.parametrize("kind", BAD)
def test_refused_with_a_reason_in_little_memory(kind: str) -> None:
    archive = BAD[kind]()
    tracemalloc.start()
    try:
        with pytest.raises(UsageError) as refused:
            read_member(archive, NAME, MOST)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused.value.message
    assert peak < 8 << 20


def test_a_plain_one_is_read() -> None:
    assert read_member(PLAIN, NAME, MOST) == b'{"a": 1}' * 50
    assert read_member(_zipped(b"x" * 9, zipfile.ZIP_STORED), NAME, 9) == b"x" * 9


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(PLAIN) - 1), st.integers(0, 255)), max_size=6), st.integers(0, 40)
)
def test_whatever_is_changed_in_it_nothing_but_a_refusal_comes_out(
    changes: list[tuple[int, int]], cut: int
) -> None:
    made = bytearray(PLAIN)
    for place, value in changes:
        made[place] = value
    with contextlib.suppress(UsageError):
        assert len(read_member(bytes(made[: len(made) - cut]), NAME, MOST)) <= MOST
