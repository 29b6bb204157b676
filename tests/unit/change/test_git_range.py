"""Trees, commits, notes and line origins read from git objects."""

from __future__ import annotations

import io
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gate.change.commits import parse_commit
from gate.change.diff import line_count
from gate.change.files import open_paths
from gate.change.git_range import open_range
from gate.change.notes import NOTE_BYTES
from gate.change.tarball import MTIME
from tests.hostile.git_repo import RUN, Entry, Repo

FILES: dict[bytes, bytes | Entry] = {
    b"a.py": b"x = 1\n",
    b"bin/tool": (RUN, b"#!/bin/sh\n"),
    b"pkg/same1": b"same",
    b"pkg/same2": b"same",
    b"pkg/big": b"b" * (2 << 20),
    b"pkg/big2": b"b" * (2 << 20),
    b"pkg/empty": b"",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "r")


def test_tree_reads_and_archives_every_file(repo: Repo) -> None:
    root = repo.commit(FILES)
    contents = {n.decode(): d[1] if isinstance(d, tuple) else d for n, d in FILES.items()}
    with open_range(repo.path, root, root) as opened:
        tree = opened.head
        assert {e.path: e.size for e in tree.entries()} == {n: len(d) for n, d in contents.items()}
        assert dict(tree.read_many(("pkg/same2", "nope", "a.py"))) == {
            "pkg/same2": b"same",
            "a.py": b"x = 1\n",
        }
        with pytest.raises(KeyError):
            tree.read("nope")
        with ThreadPoolExecutor(8) as pool:
            for stream in pool.map(lambda _: b"".join(tree.archive()), range(8)):
                with tarfile.open(fileobj=io.BytesIO(stream)) as tar:
                    files = {m.name: m for m in tar.getmembers()}
                    assert {n for n, m in files.items() if m.isdir()} == {"bin", "pkg"}
                    for name, data in contents.items():
                        member = tar.extractfile(files[name])
                        assert member is not None
                        assert member.read() == data
                    assert files["bin/tool"].mode == 0o755
                    assert {(m.uid, m.gid, m.mtime) for m in files.values()} == {(0, 0, MTIME)}


def test_status_hunks_and_language(repo: Repo) -> None:
    root = repo.commit({b"keep": b"1\n2\n3\n4\n", b"gone.py": b"x\ny\n", b"old.py": b"a = 1\n" * 20})
    head = repo.commit(
        {b"keep": b"1\nnew\n3\n4\nfive", b"new.py": b"a = 1\n" * 20 + b"b = 2\n", b"add": b"z"}, root
    )
    with open_range(repo.path, root, head, branch="topic") as opened:
        files = {f.path: f for f in opened.change.files}
        assert opened.change.branch == "topic"
    assert {p: f.status for p, f in files.items()} == {
        "add": "added",
        "gone.py": "deleted",
        "keep": "modified",
        "new.py": "renamed",
    }
    assert [(h.new_start, h.new_count) for h in files["keep"].hunks] == [(2, 1), (5, 1)]
    assert [(h.old_count, h.new_count) for h in files["gone.py"].hunks] == [(2, 0)]
    assert (files["new.py"].old_path, files["new.py"].language) == ("old.py", "python")
    assert [(h.new_start, h.new_count) for h in files["new.py"].hunks] == [(21, 1)]
    assert (files["add"].old_path, files["add"].size, files["add"].added_line_count) == (None, 1, 1)
    assert files["gone.py"].language == "python"


def test_commits_in_order_with_odd_bytes(repo: Repo) -> None:
    root = repo.commit({b"a": b"1"})
    one = repo.commit(
        {b"a": b"2"}, root, message=b"caf\xe9 \xff\n\nbody", author="N\u00e4me <n@example.org>", when=5
    )
    two = repo.commit({b"a": b"3"}, one, message="second")
    with open_range(repo.path, root, two) as opened:
        assert [c.sha for c in opened.change.commits] == [one, two]
        first = opened.change.commits[0]
        assert (first.author_name, first.author_email, first.authored_at) == ("N\u00e4me", "n@example.org", 5)
        assert first.message.startswith("caf\ufffd")
        assert first.parents == (root,)


def test_commit_objects_without_sense_do_not_break_the_reader() -> None:
    assert parse_commit("0", b"").message == ""
    odd = parse_commit(
        "0", b"tree x\nauthor nobody\ncommitter <> 1 +0\nencoding utf-7\ngpgsig a\n b\n\nm+AC0-"
    )
    assert (odd.author_name, odd.author_email, odd.authored_at, odd.message) == ("nobody", "", 0, "m+AC0-")
    assert parse_commit("0", b"encoding latin-1\n\n\xe9").message == "\u00e9"


def test_notes_of_the_range_and_only_those(repo: Repo) -> None:
    root = repo.commit({b"a": b"1"})
    head = repo.commit({b"a": b"2"}, root)
    repo.note(head, b"---\n{}")
    repo.note(head, b"{}", ref="notes/agent-trace")
    with open_range(repo.path, root, head) as opened:
        assert opened.notes == {head: (b"---\n{}", b"{}")}
    repo.note(root, b"of another commit")
    with open_range(repo.path, root, head) as opened:
        assert opened.notes == {head: (b"{}",)}
    repo.note(head, b"x" * (NOTE_BYTES + 1))
    with open_range(repo.path, root, head) as opened:
        assert opened.notes == {head: (b"{}",)}


def test_origins_follow_lines_through_the_range_and_renames(repo: Repo) -> None:
    body = b"".join(b"line %d\n" % i for i in range(20))
    root = repo.commit({b"a.py": body})
    one = repo.commit({b"a.py": body + b"ai one\nai two\n"}, root)
    two = repo.commit({b"b.py": b"person\n" + body + b"ai one\nai two\n"}, one)
    with open_range(repo.path, root, two) as opened:
        spans = [(o.line, o.count, o.commit, o.path, o.original_line) for o in opened.origins("b.py")]
        assert spans == [(1, 1, two, "b.py", 1), (22, 2, one, "a.py", 21)]
        assert opened.origins("nope") == ()


def test_loose_files_and_single_file(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a.py").write_text("x = 1\ny = 2\n")
    (tmp_path / "b.sh").write_text("#!/bin/sh\n")
    (tmp_path / "b.sh").chmod(0o755)
    with open_paths([tmp_path / "d/a.py"]) as opened:
        assert [(f.path, f.added_line_count) for f in opened.change.files] == [("a.py", 2)]
        assert opened.base.entries() == ()
        assert opened.change.base is None
    with open_paths([tmp_path / "d", tmp_path / "b.sh", tmp_path / "d/a.py"]) as opened:
        assert [(f.path, f.new_mode) for f in opened.change.files] == [
            ("b.sh", "100755"),
            ("d/a.py", "100644"),
        ]
        assert dict(opened.head.read_many(("b.sh", "none"))) == {"b.sh": b"#!/bin/sh\n"}


@pytest.mark.parametrize(("data", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)])
def test_line_count(data: bytes, lines: int) -> None:
    assert line_count(data) == lines
