"""Files that were there and get other content: ransomware's ways are told, ordinary writing is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gate.trace import view_rewrites
from tests.unit.trace_builder import Trace

_FRESH = "O_CREAT|O_TRUNC"


def _read_then_write(trace: Trace, path: str) -> None:
    trace.open(path).write(path, _FRESH)


def _appended_first(trace: Trace, path: str) -> None:
    trace.write(path, "O_CREAT|O_APPEND").open(path).write(path, _FRESH)


def _renamed_over(trace: Trace, path: str) -> None:
    trace.open(path).write("/tmp/wrapped").file("rename", path, "/tmp/wrapped")


REWRITING: tuple[Callable[[Trace, str], object], ...] = (
    lambda trace, path: trace.open(path, "rw", ""),
    lambda trace, path: trace.open(path, "w", ""),
    lambda trace, path: trace.open(path, "rw", "O_CREAT"),
    _read_then_write,
    _appended_first,
    _renamed_over,
)
ORDINARY: tuple[Callable[[Trace, str], object], ...] = (
    lambda trace, path: trace.open(path),
    lambda trace, path: trace.write(path, _FRESH),
    lambda trace, path: trace.write(path, "O_CREAT"),  # touch
    lambda trace, path: trace.write(path, _FRESH).open(path).write(path, _FRESH),
    lambda trace, path: trace.write(path, _FRESH).open(path, "rw", ""),
    lambda trace, path: trace.write(path, "O_CREAT|O_APPEND"),
    lambda trace, path: trace.open(path, "rw", "O_CREAT|O_EXCL"),
    lambda trace, path: trace.open(path, "rw", "", denied=True),
    lambda trace, path: trace.write(path + ".new").file("rename", path, path + ".new"),
)


def _many(
    tmp_path: Path, act: Callable[[Trace, str], object], folder: str, count: int
) -> list[tuple[str, int]]:
    trace = Trace()
    for number in range(count):
        act(trace, f"{folder}/{chr(97 + number)}.txt")
    seen = trace.seen(tmp_path)
    return [(b.subject, b.count) for b in seen if b.detail.get("how") == "overwrites"]


@pytest.mark.parametrize("number", range(len(REWRITING)))
def test_rewriting_many_files_is_told(number: int, tmp_path: Path) -> None:
    act = REWRITING[number]
    assert _many(tmp_path, act, "/work/tree/d", 20) == [("many files of the tree (overwritten)", 20)]
    assert _many(tmp_path, act, "/work/home/d", 5) == [("many files of home (overwritten)", 5)]
    assert _many(tmp_path, act, "/work/tree/d", 19) == []


@pytest.mark.parametrize("number", range(len(ORDINARY)))
def test_ordinary_writing_is_not(number: int, tmp_path: Path) -> None:
    assert _many(tmp_path, ORDINARY[number], "/work/tree/d", 26) == []


@pytest.mark.parametrize("folder", ["/work/tree/.pytest_cache", "/tmp/d", "/work/home/.cache/x"])
def test_caches_and_scratch_are_nobodys_files(folder: str, tmp_path: Path) -> None:
    assert _many(tmp_path, _read_then_write, folder, 26) == []


def test_a_flood_of_names_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_rewrites, "_KEPT", 30)
    trace = Trace()
    for number in range(30):
        trace.open(f"/work/tree/none/{chr(97 + number)}")
    for number in range(26):
        _read_then_write(trace, f"/work/tree/d/{chr(97 + number)}")
    assert "many files of the tree (overwritten)" in {b.subject for b in trace.seen(tmp_path)}
