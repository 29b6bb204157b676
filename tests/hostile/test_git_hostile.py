"""GT-1..GT-5: what a repository can hold to start programs, hide files or leave its tree."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.change.files import open_paths
from gate.change.git_range import open_range
from gate.errors import InconclusiveError, UsageError
from gate.model.change import Change, Tree
from tests.hostile.git_repo import FILE, FOLDER, LINK, MODULE, RUN, Entry, Repo, quiet


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "r")


def _members(tree: Tree) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(b"".join(tree.archive())), errors="surrogateescape") as tar:
        return {member.name: member for member in tar.getmembers()}


def _change(repo: Repo, before: dict[bytes, bytes | Entry], after: dict[bytes, bytes | Entry]) -> Change:
    root = repo.commit(before)
    with open_range(repo.path, root, repo.commit(after, root)) as opened:
        return opened.change


ODD_NAMES = [
    b"-rf",
    b"--output=x",
    b"new\nline.py",
    b'tab\tquote".py',
    b"back\\slash",
    b"<img src=x onerror=alert(1)>.py",
    b"::error file=x::y",
    b"\xff\xfe-not-utf8.py",
    b"\x01\x1b[2Kcontrol",
    b"a b/-c/d.py",
    b"Case",
    b"case",
    "e\u0301.py".encode(),
    "\u00e9.py".encode(),
    "\u202egnp.py".encode(),
    b"n" * 255,
    b"deep/" * 40 + b"f.py",
    b"$(touch pwned)",
    b"`id`;x",
    b" lead and trail ",
    b"*",
    b":(glob)**",
    b"diff --git a/x b/x\n@@ -1 +1 @@\n+evil",
]


def test_every_odd_name_arrives_whole(repo: Repo) -> None:
    root = repo.commit({b"keep": b"1\n"})
    files: dict[bytes, bytes | Entry] = {name: b"import os\n" + name for name in ODD_NAMES}
    one = repo.commit({b"keep": b"1\n", **files}, root)
    two = repo.commit(
        {b"keep": b"1\n", **{n: d + b"\nmore = 1\n" for n, d in files.items() if isinstance(d, bytes)}}, one
    )
    with open_range(repo.path, root, one) as opened:
        names = {f.path.encode("utf-8", "surrogateescape") for f in opened.change.files}
        assert names == set(ODD_NAMES)
        for name in ODD_NAMES:
            assert opened.head.read(name.decode("utf-8", "surrogateescape")) == files[name]
        inside = {n.encode("utf-8", "surrogateescape") for n in _members(opened.head)}
        assert set(ODD_NAMES) <= inside
    with open_range(repo.path, one, two) as opened:
        assert len(opened.change.files) == len(ODD_NAMES)
        for file in opened.change.files:
            assert file.status == "modified"
            assert 0 < file.added_line_count <= 2 + file.path.count("\n")
            if "\n" not in file.path:
                assert opened.origins(file.path)[-1].commit == two


def test_symlinks_are_data_and_never_followed(repo: Repo, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("TOKEN = 'host file'\n")
    links: dict[bytes, bytes | Entry] = {
        b"a.py": (LINK, os.fsencode(secret)),
        b"up": (LINK, b"../../../.."),
        b"loop": (LINK, b"loop"),
        b"git": (LINK, b".git"),
        b"proc": (LINK, b"/proc/self/environ"),
        b"nul": (LINK, b"a\0b"),
        b"long": (LINK, b"x" * 5000),
        b"empty": (LINK, b""),
    }
    root = repo.commit({b"x": b"1\n"})
    with open_range(repo.path, root, repo.commit({b"x": b"1\n", **links}, root)) as opened:
        assert {f.path: f.new_mode for f in opened.change.files} == dict.fromkeys(
            (n.decode() for n in links), "120000"
        )
        assert all(f.language is None for f in opened.change.files)
        assert opened.head.read("a.py") == os.fsencode(secret)
        members = _members(opened.head)
        assert members["up"].issym()
        assert members["up"].linkname == "../../../.."
        assert not any(members[n].issym() for n in ("nul", "long", "empty"))
        assert b"host file" not in b"".join(opened.head.archive())


def test_file_turned_symlink_is_a_type_change(repo: Repo) -> None:
    change = _change(repo, {b"a.py": b"x = 1\n"}, {b"a.py": (LINK, b"/etc/passwd")})
    file = change.files[0]
    assert (file.status, file.old_mode, file.new_mode) == ("type-changed", "100644", "120000")


def test_submodule_bump_is_told_and_never_entered(repo: Repo) -> None:
    modules = b'[submodule "m"]\n\tpath = m\n\turl = ext::sh -c "touch pwned"\n'
    root = repo.commit({b".gitmodules": modules, b"m": (MODULE, b"1" * 40)})
    head = repo.commit({b".gitmodules": modules, b"m": (MODULE, b"2" * 40), b"n": (MODULE, b"3" * 40)}, root)
    with open_range(repo.path, root, head) as opened:
        assert {(f.path, f.status, f.new_mode, f.new_blob) for f in opened.change.files} == {
            ("m", "modified", "160000", "2" * 40),
            ("n", "added", "160000", "3" * 40),
        }
        assert _members(opened.head)["m"].isdir()
        assert opened.head.read("m") == b""


def _tripwire(tmp_path: Path) -> tuple[str, Path]:
    mark = tmp_path / "pwned"
    script = tmp_path / "trip.sh"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    script.chmod(0o755)
    return str(script), mark


def test_attributes_and_config_start_nothing_and_hide_nothing(repo: Repo, tmp_path: Path) -> None:
    trip, mark = _tripwire(tmp_path)
    repo.config(
        f"""
[core]
\tfsmonitor = {trip}
\thooksPath = {tmp_path}
\tsshCommand = {trip}
\tpager = {trip}
\teditor = {trip}
\tattributesFile = {tmp_path}/attributes
\talternateRefsCommand = {trip}
[diff]
\texternal = {trip}
\torderFile = {tmp_path}/order
\tignoreSubmodules = all
\tnoprefix = true
[diff "x"]
\tcommand = {trip}
\ttextconv = {trip}
\tbinary = true
\txfuncname = .
[filter "x"]
\tclean = {trip}
\tsmudge = {trip}
\tprocess = {trip}
\trequired = true
[merge "x"]
\tdriver = {trip}
[alias]
\tdiff-tree = !{trip}
\tcat-file = !{trip}
\trev-parse = !{trip}
[gpg]
\tprogram = {trip}
[log]
\tshowSignature = true
[remote "origin"]
\turl = ext::{trip}
\tpromisor = true
[protocol]
\tallow = always
[extensions]
\tpartialClone = origin
[include]
\tpath = {tmp_path}/included
"""
    )
    (tmp_path / "included").write_text(f"[core]\n\tfsmonitor = {trip}\n")
    (tmp_path / "attributes").write_text("* diff=x filter=x\n")
    (tmp_path / "order").write_text("")
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info/attributes").write_text("* -diff diff=x filter=x merge=x export-ignore\n")
    attributes = (
        b"* -diff diff=x filter=x merge=x binary linguist-generated export-ignore export-subst"
        b" working-tree-encoding=UTF-16\n"
    )
    # The work tree on the host can hold them too.
    (repo.path / ".gitattributes").write_bytes(attributes)
    root = repo.commit({b"a.py": b"x = 1\n", b"b.py": b"y = 1\n"})
    code = b"x = 1\nimport os  # $Format:%H$\n"
    head = repo.commit({b".gitattributes": attributes, b"a.py": code, b"b.py": b"y = 1\n"}, root)
    repo.ref("heads/main", head)
    with open_range(repo.path, root, "main") as opened:
        files = {f.path: f for f in opened.change.files}
        assert set(files) == {".gitattributes", "a.py"}
        assert [(h.new_start, h.new_count) for h in files["a.py"].hunks] == [(2, 1)]
        assert not files["a.py"].binary
        assert opened.head.read("a.py") == code
        assert {".gitattributes", "a.py", "b.py"} <= set(_members(opened.head))
        assert code in b"".join(opened.head.archive())
        assert opened.origins("a.py")[0].line == 2
    blob = repo.put("blob", code)
    (repo.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(InconclusiveError):  # git must not ask the promisor remote for it
        open_range(repo.path, root, "main")
    assert not mark.exists()
    repo.put("blob", code)
    # The trap is live: ordinary git walks into it.
    words = ["git", "-C", str(repo.path), "diff", root, head]
    subprocess.run(words, check=False, env=quiet(), capture_output=True, timeout=20)
    assert mark.exists()


def test_environment_of_the_caller_does_not_steer_git(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trip, mark = _tripwire(tmp_path)
    for name in (
        "GIT_EXTERNAL_DIFF",
        "GIT_SSH_COMMAND",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_ASKPASS",
        "GIT_PROXY_COMMAND",
    ):
        monkeypatch.setenv(name, trip)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", trip)
    change = _change(repo, {b"a": b"1\n"}, {b"a": b"2\n"})
    assert [f.path for f in change.files] == ["a"]
    assert not mark.exists()


def test_replace_refs_and_grafts_do_not_bend_history(repo: Repo) -> None:
    root = repo.commit({b"a": b"1\n"})
    evil = repo.commit({b"a": b"1\n", b"evil.py": b"import os\n"}, root, message="evil")
    tame = repo.commit({b"a": b"1\n"}, root, message="tame")
    repo.ref(f"replace/{evil}", tame)
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info/grafts").write_text(f"{root} {evil}\n")
    with open_range(repo.path, root, evil) as opened:
        assert [f.path for f in opened.change.files] == ["evil.py"]
        assert [c.message for c in opened.change.commits] == ["evil"]


def test_embedded_bare_repository_is_only_files(repo: Repo, tmp_path: Path) -> None:
    trip, mark = _tripwire(tmp_path)
    inner: dict[bytes, bytes | Entry] = {
        b"x.git/HEAD": b"ref: refs/heads/main\n",
        b"x.git/config": f"[core]\n\tbare = true\n\tfsmonitor = {trip}\n".encode(),
        b"x.git/objects/keep": b"",
        b"x.git/refs/keep": b"",
        b"x.git/hooks/post-checkout": (RUN, b"#!/bin/sh\n"),
        b".GIT/config": b"[core]\n",
        b"git~1/config": b"[core]\n",
    }
    change = _change(repo, {b"a": b"1\n"}, {b"a": b"1\n", **inner})
    assert {f.path.encode() for f in change.files} == set(inner)
    assert next(f for f in change.files if f.path.endswith("post-checkout")).language == "shell"
    assert not mark.exists()


def _impossible_trees(repo: Repo) -> Iterator[str]:
    blob = repo.put("blob", b"x")
    link = repo.put("blob", b"/tmp")
    folder = repo.raw_tree([(FILE, b"f", blob)])
    yield repo.raw_tree([(FOLDER, b"..", folder)])
    yield repo.raw_tree([(FOLDER, b".git", folder)])
    yield repo.raw_tree([(FILE, b".", blob)])
    yield repo.raw_tree([(FILE, b"a/b", blob), (LINK, b"a", link)])
    yield repo.raw_tree([(LINK, b"d", link), (FOLDER, b"d", folder)])
    yield repo.raw_tree([(FILE, b"twice", blob), (FILE, b"twice", link)])
    yield repo.raw_tree([(FILE, b"/abs", blob)])


def test_trees_that_no_checkout_could_hold_are_refused(repo: Repo) -> None:
    root = repo.commit({b"a": b"1\n"})
    for tree in _impossible_trees(repo):
        with (
            pytest.raises(
                InconclusiveError, match=r"no checkout could hold|git ls-tree failed|git diff-tree failed"
            ),
            open_range(repo.path, root, repo.commit(tree, root)) as opened,
        ):
            opened.head.entries()


def test_long_lines_binary_and_foreign_encodings(repo: Repo) -> None:
    long = b"x = '" + b"a" * (20 << 20) + b"'\n"
    before: dict[bytes, bytes | Entry] = {
        b"one.py": long,
        b"u16.py": "x = 1\n".encode("utf-16"),
        b"bin": b"\0\1\2",
        b"nul.py": b"a = 1\nb = 2\n",
        b"mode.sh": b"#!/bin/sh\n",
        b"same": b"moved content\n" * 5,
    }
    after: dict[bytes, bytes | Entry] = {
        b"one.py": long + b"import os\n",
        b"u16.py": "x = 1\nimport os\n".encode("utf-16"),
        b"bin": b"\0\1\2\3",
        b"nul.py": b"a = 1\nb = 2\nimport os\0\n",
        b"mode.sh": (RUN, b"#!/bin/sh\n"),
        b"elsewhere": b"moved content\n" * 5,
    }
    files = {f.path: f for f in _change(repo, before, after).files}
    # Where git gives no hunks, every line counts as changed: nothing slips through.
    assert files["one.py"].touches(2)
    assert files["u16.py"].binary
    assert files["u16.py"].touches(1)
    assert files["bin"].binary
    assert files["nul.py"].touches(3)
    assert files["mode.sh"].hunks == ()
    assert (files["mode.sh"].old_mode, files["mode.sh"].new_mode) == ("100644", "100755")
    assert (files["elsewhere"].status, files["elsewhere"].old_path) == ("renamed", "same")
    assert files["elsewhere"].hunks == ()


def test_loose_files_never_follow_links_and_leave_nothing_out(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "node_modules/x").mkdir(parents=True)
    (top / ".git").mkdir()
    (top / ".git/config").write_text("secret")
    (top / "node_modules/x/evil.py").write_text("import os\n")
    (top / "tests").mkdir()
    (top / "tests/-odd\nname").write_bytes(b"#!/usr/bin/env python3\n")
    (top / "link.py").symlink_to("/etc/passwd")
    (top / "dir").symlink_to("..")
    (top / "loop").symlink_to("loop")
    os.mkfifo(top / "pipe")
    with open_paths([top]) as opened:
        assert {f.path: f.language for f in opened.change.files} == {
            "dir": None,
            "link.py": None,
            "loop": None,
            "node_modules/x/evil.py": "python",
            "tests/-odd\nname": "python",
        }
        assert opened.head.read("link.py") == b"/etc/passwd"
        assert b"root:" not in b"".join(opened.head.archive())
        (top / "node_modules/x/evil.py").unlink()
        (top / "node_modules/x/evil.py").symlink_to("/etc/passwd")
        with pytest.raises(InconclusiveError):
            opened.head.read("node_modules/x/evil.py")
    for bad in (top / "link.py", top / "pipe", top / "missing"):
        with pytest.raises(UsageError):
            open_paths([bad])
    with pytest.raises(UsageError):
        open_paths([])
