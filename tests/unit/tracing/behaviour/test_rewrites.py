"""Files that were there and get other content: ransomware's ways are told, ordinary writing is not."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.sandbox import overwritten_files
from gate.sandbox.overwritten_files import OverwrittenFiles
from gate.tracing.behaviour import rewrites
from gate.tracing.data_files import is_data
from tests.unit.tracing.trace_builder import Trace

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
    monkeypatch.setattr(rewrites, "_KEPT", 30)
    trace = Trace()
    for number in range(30):
        trace.open(f"/work/tree/none/{chr(97 + number)}")
    for number in range(26):
        _read_then_write(trace, f"/work/tree/d/{chr(97 + number)}")
    assert "many files of the tree (overwritten)" in {b.subject for b in trace.seen(tmp_path)}


BLIND: tuple[Callable[[Trace, str], object], ...] = (
    lambda trace, path: trace.write(path, _FRESH),
    lambda trace, path: trace.write(path, "O_CREAT"),
    lambda trace, path: trace.write("/tmp/wrapped").file("rename", path, "/tmp/wrapped"),
    lambda trace, path: trace.write(path, _FRESH).file("rename", path + ".locked", path),
    lambda trace, path: trace.write(path + ".new").file("renameat2", path, path + ".new"),
    lambda trace, path: trace.file("link", f"/tmp/{path[-5]}", path).write(f"/tmp/{path[-5]}", _FRESH),
    lambda trace, path: (
        trace.file("link", f"/tmp/{path[-5]}", path)
        .file("linkat", f"/tmp/{path[-5]}2", f"/tmp/{path[-5]}")
        .open(f"/tmp/{path[-5]}2", "rw", "")
    ),
)
HARMLESS: tuple[Callable[[Trace, str], object], ...] = (
    lambda trace, path: trace.open(path),
    lambda trace, path: trace.write(path, "O_CREAT|O_APPEND"),
    lambda trace, path: trace.open(path, "rw", "O_CREAT|O_EXCL"),  # fails: it is there
    lambda trace, path: trace.write(path, _FRESH, denied=True),
    lambda trace, path: trace.write(path + ".html", _FRESH),
    lambda trace, path: trace.file("link", f"/tmp/{path[-5]}", path).open(f"/tmp/{path[-5]}"),
    lambda trace, path: trace.file("link", f"/tmp/{path[-5]}", "/tmp/own").write(f"/tmp/{path[-5]}", _FRESH),
    lambda trace, path: trace.file("chmod", path, mode=0o600),
)


def _given(trace: Trace, paths: set[str]) -> tuple[str, ...]:
    """As a session finds them out."""
    files = OverwrittenFiles(frozenset(paths))
    for event in trace.events:
        files.feed(event)
    return files.written


def _names(folder: str, count: int) -> list[str]:
    return [f"{folder}/{chr(97 + number)}.txt" for number in range(count)]


@pytest.mark.parametrize("number", range(len(BLIND)))
@pytest.mark.parametrize(("folder", "many"), [("/work/tree/d", 20), ("/work/home/d", 5)])
def test_files_that_were_there_need_not_be_read_first(
    number: int, folder: str, many: int, tmp_path: Path
) -> None:
    for count, there, told in ((many, many, [many]), (many, many - 1, []), (many - 1, many - 1, [])):
        trace = Trace()
        for path in _names(folder, count):
            BLIND[number](trace, path)
        seen = trace.seen(tmp_path, given=_given(trace, set(_names(folder, there))))
        assert [b.count for b in seen if b.detail.get("how") == "overwrites"] == told


@pytest.mark.parametrize("number", range(len(HARMLESS)))
def test_files_that_were_there_and_stay_are_nobodys_loss(number: int, tmp_path: Path) -> None:
    trace = Trace()
    for path in _names("/work/tree/d", 26):
        HARMLESS[number](trace, path)
    seen = trace.seen(tmp_path, given=_given(trace, set(_names("/work/tree/d", 26))))
    assert [b.subject for b in seen if b.kind.value == "delete"] == []


def test_appended_files_that_lost_what_they_held(tmp_path: Path) -> None:
    """What the file system says decides: no call tells that a file was cut."""
    paths = _names("/work/tree/d", 26)
    for cut, counts in ((paths[:20], [20]), (paths[:19], []), ([], [])):
        trace = Trace()
        for path in paths:
            trace.write(path, "O_CREAT|O_APPEND")
        seen = trace.seen(tmp_path, given=_given(trace, set(paths)), cut=tuple(cut))
        assert [b.count for b in seen if b.detail.get("how") == "overwrites"] == counts


@pytest.mark.parametrize(
    ("lost", "data", "told"),
    [
        (12, 13, ["12 of 13"]),
        (5, 10, ["5 of 10"]),
        (5, 11, []),
        (4, 4, []),
        (12, 0, []),  # nobody counted
        (20, 21, [""]),  # many anyway
    ],
)
@pytest.mark.parametrize("way", ["overwritten", "deleted"])
def test_most_of_a_small_tree_is_many(
    lost: int, data: int, told: list[str], way: str, tmp_path: Path
) -> None:
    paths = _names("/work/tree/d", lost)
    trace = Trace()
    for path in paths:
        trace.write(path, _FRESH) if way == "overwritten" else trace.file("unlink", path)
    for name in "abcdef":
        trace.open(f"/work/tree/{name}.py", "rw", "")  # programs do not count
    seen = trace.seen(tmp_path, given=_given(trace, set(paths)), data_files=data)
    if lost < 20:
        assert [b.detail.get("share", "") for b in seen if b.subject.startswith("many")] == told
    else:
        assert told[0] in [b.detail.get("share", "") for b in seen if b.subject.startswith("many")]


@pytest.mark.parametrize("name", ["a.csv", "README", "x.json", "locale.po", ".env", "d.sqlite", "a\nb"])
def test_data(name: str) -> None:
    assert is_data(f"/work/tree/{name}")


@pytest.mark.parametrize("name", ["a.py", "A.PY", "Makefile", "x.mjs", "run.sh", "a\nb.py", "dev.Dockerfile"])
def test_programs(name: str) -> None:
    assert not is_data(f"/work/tree/{name}")


def test_which_files_were_appended_to() -> None:
    trace = Trace().write("/work/tree/a", "O_CREAT|O_APPEND").write("/work/tree/b", _FRESH)
    trace.file("link", "/tmp/c", "/work/tree/c").write("/tmp/c", "O_APPEND").write("/work/tree/d", "O_APPEND")
    files = OverwrittenFiles({"/work/tree/a", "/work/tree/b", "/work/tree/c"})
    for event in trace.events:
        files.feed(event)
    assert files.appended == {"/work/tree/a", "/work/tree/c"}


def test_more_links_than_are_followed_hide_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrites, "_KEPT", 30)
    monkeypatch.setattr(overwritten_files, "_LINKS", 30)
    trace = Trace()
    paths = _names("/work/tree/d", 26)
    for number in range(30):
        trace.file("link", f"/tmp/{number}", paths[0])
    for path in paths:
        trace.file("link", f"/tmp/{path[-5]}", path).write(f"/tmp/{path[-5]}", _FRESH)
    seen = trace.seen(tmp_path, given=_given(trace, set(paths)))
    assert "many files of the tree (overwritten)" in {b.subject for b in seen}


def test_deleted_and_overwritten_count_together(tmp_path: Path) -> None:
    trace = Trace()
    paths = _names("/work/tree/d", 20)
    for path in paths[:12]:
        trace.write(path, _FRESH)
    for path in paths[10:]:  # two of them both
        trace.file("unlink", path)
    seen = trace.seen(tmp_path, given=_given(trace, set(paths)))
    assert [b.count for b in seen if b.subject == "many files of the tree"] == [20]
    seen = trace.seen(tmp_path, given=_given(trace, set(paths[1:])))
    assert [b.subject for b in seen if b.subject.startswith("many")] == []


_PROSE = b"A generator writes words,\nand lines of them.\n" * 9


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (_PROSE, True),
        ("wörter und zeilen ".encode()[:-11], True),
        (os.urandom(400), False),
        (base64.encodebytes(os.urandom(400)), False),
        (_PROSE + b"\0", False),
        (b"pwned", False),
        (b"", False),
    ],
    ids=("prose", "umlauts", "random", "random-in-letters", "prose-and-nul", "short", "nothing"),
)
def test_what_reads_as_text(head: bytes, text: bool) -> None:
    assert rewrites.words(head) is text


def test_many_files_of_words_may_be_a_generators(tmp_path: Path) -> None:
    paths = _names("/work/tree/d", 24)

    def written(trace: Trace, heads: dict[str, bytes]) -> str:
        for path in paths:
            trace.write(path, _FRESH)
        seen = trace.seen(tmp_path, given=_given(trace, set(paths)), heads=tuple(heads.items()))
        (only,) = [b for b in seen if b.subject.startswith("many")]
        return only.detail.get("written", "")

    assert written(Trace(), dict.fromkeys(paths, _PROSE)) == "as text"
    assert written(Trace(), dict.fromkeys(paths[:20], _PROSE)) == "as text"
    assert written(Trace(), dict.fromkeys(paths[:19], _PROSE)) == "", "too little is known"
    assert written(Trace(), dict.fromkeys(paths, _PROSE) | {paths[3]: b"\xff\xfe\0"}) == ""
    assert written(Trace().open(paths[0]), dict.fromkeys(paths, _PROSE)) == "", "read first"
