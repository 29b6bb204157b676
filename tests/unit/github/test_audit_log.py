"""The log of decisions: every change of it is seen."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.cli import main
from gate.errors import Exit, UsageError
from gate.github.audit_log import START, AuditError, append, verify


def _log(path: Path, count: int = 3) -> list[bytes]:
    for number in range(count):
        append(path, {"by": f"w{number}", "reason": "line\nbreak \u202e é"}, at=1_800_000_000 + number)
    return path.read_bytes().splitlines(keepends=True)


def test_a_whole_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = _log(log)
    assert len(lines) == 3
    count, seal = verify(log)
    assert count == 3
    assert seal.encode() in lines[2]
    assert verify(log, last=seal) == (3, seal)


def test_an_empty_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"")
    assert verify(log) == (0, START)


@pytest.mark.parametrize("broken", ["changed", "removed", "swapped", "doubled", "cut", "junk", "inserted"])
def test_a_broken_log_is_told_and_never_added_to(tmp_path: Path, broken: str) -> None:
    log = tmp_path / "log"
    lines = _log(log)
    changed = {
        "changed": [lines[0], lines[1].replace(b"w1", b"w9"), lines[2]],
        "removed": [lines[0], lines[2]],
        "swapped": [lines[1], lines[0], lines[2]],
        "doubled": [lines[0], lines[0], lines[1]],
        "cut": [*lines[:2], lines[2][:-10]],
        "junk": [lines[0], b"{}\n", lines[1]],
        "inserted": [b"\n", *lines],
    }[broken]
    log.write_bytes(b"".join(changed))
    with pytest.raises(AuditError):
        verify(log)
    with pytest.raises(AuditError):
        append(log, {"by": "x"}, at=1)
    assert log.read_bytes() == b"".join(changed)
    assert main(["audit", "verify", str(log)]) == Exit.BLOCKED


def test_a_cut_off_end_is_seen_with_a_kept_seal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = _log(log)
    _, seal = verify(log)
    log.write_bytes(b"".join(lines[:2]))
    assert verify(log)[0] == 2
    with pytest.raises(AuditError, match="cut off"):
        verify(log, last=seal)
    assert main(["audit", "verify", str(log), "--last", seal]) == Exit.BLOCKED


def test_a_log_rewritten_from_the_start_is_seen_with_a_kept_seal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    _log(log)
    _, seal = verify(log)
    log.unlink()
    append(log, {"by": "forger"}, at=1)
    with pytest.raises(AuditError):
        verify(log, last=seal)


def test_links_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError):
        append(tmp_path / "link", {"by": "x"}, at=1)
    assert main(["audit", "verify", str(tmp_path / "none")]) == Exit.USAGE


def test_writers_at_once_wait_for_each_other(tmp_path: Path) -> None:
    log = tmp_path / "log"
    threads = [threading.Thread(target=_log, args=(log, 5)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(log)[0] == 20


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_any_flipped_byte_is_seen(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    log = tmp_path_factory.mktemp("audit") / "log"
    raw = bytearray(b"".join(_log(log, 2)))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    log.write_bytes(raw)
    with pytest.raises(AuditError):
        verify(log)
