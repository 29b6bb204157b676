"""What is not committed yet, as a change of its own: the index (staged) or the work tree against HEAD.

Objects that the repository lacks are written into a private folder that borrows the repository's own, so
nothing in the repository changes. Contents of the work tree are read without following links and without
filters: git only lists names here, and no attribute or setting of the repository acts.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from gate.change.diff import changed_files
from gate.change.files import read_unfollowed
from gate.change.git_command import GitRepository, oid_of
from gate.change.git_range import resolve
from gate.change.interface import OpenChange
from gate.change.objects import BlobCache, GitTree
from gate.errors import InconclusiveError, NothingToJudgeError, UsageError
from gate.model.change import Change

Part = Literal["staged", "worktree"]

_MOST: Final = 100_000


class _Workplace:
    """A door with an object store of its own and copies of the index, until ``close``."""

    def __init__(self, repo: Path) -> None:
        self.door = GitRepository(repo)
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="gate-objects-"))
        except BaseException:
            self.door.close()
            raise
        (self.folder / "info").mkdir()
        (self.folder / "info" / "alternates").write_bytes(
            os.fsencode(self.door.common_dir / "objects") + b"\n"
        )
        self.index = self.folder / "index"
        real = _index(self.door)
        if real.exists():
            shutil.copyfile(real, self.index)

    def run(self, *words: str, stdin: bytes = b"", root: Path | None = None) -> bytes:
        """Run git on the private store and the copied index; ``root`` gives it a work tree to list."""
        env = {"GIT_OBJECT_DIRECTORY": str(self.folder), "GIT_INDEX_FILE": str(self.index)}
        env |= {"GIT_WORK_TREE": str(root)} if root is not None else {}
        return self.door.run(*words, stdin=stdin, extra=env, cwd=root)

    def close(self) -> None:
        """Remove what was made. May be called twice."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.door.close()


def _index(door: GitRepository) -> Path:
    """The index that is about to be committed. In a hook of `git commit -a` or `git commit PATH` that is one
    that git made for this commit (GIT_INDEX_FILE), and the repository's own says less. One that lies in
    another repository is not meant for this one.
    """
    usual = door.git_dir / "index"
    named = os.environ.get("GIT_INDEX_FILE", "")
    if not named:
        return usual
    found = Path(os.path.abspath(named))  # noqa: PTH100 - resolve() follows the link that a file may be
    inside = found.parent.resolve() == door.git_dir.resolve()
    return found if inside and found.is_file() else usual


def open_uncommitted(repo: Path, part: Part) -> OpenChange:
    """The index (``staged``) or the work tree against HEAD. Untracked files count, ignored ones do not.

    Raises UsageError (no work tree, nothing committed yet, unmerged paths, nothing that differs) or
    InconclusiveError (a file that cannot be read).
    """
    place = _Workplace(repo)
    try:
        return _open(place, repo, part)
    except BaseException:
        place.close()
        raise


def _open(place: _Workplace, repo: Path, part: Part) -> OpenChange:
    door = place.door
    base = resolve(door, "HEAD")
    if place.run("ls-files", "--unmerged", "-z"):
        raise UsageError("a merge is not finished: some paths are unmerged", advice="Resolve them first.")
    if part == "worktree":
        _take_work_tree(place, work_tree(door))
    tree = oid_of(place.run("write-tree", "--missing-ok"))
    door.objects = place.folder
    before = oid_of(door.run("rev-parse", "--verify", "--quiet", f"{base}^{{tree}}"))
    if tree == before:
        what = "staged" if part == "staged" else "changed in the work tree"
        raise NothingToJudgeError(f"nothing is {what}", advice="`git status` shows what is not committed.")
    return _as_change(place, repo, base, before, tree, settings=before)


def _as_change(
    place: _Workplace, repo: Path, commit: str, before: str, tree: str, *, settings: str
) -> OpenChange:
    """The difference of two trees of the private store; ``settings``: the tree that holds them."""
    door, cache = place.door, BlobCache()
    trees = {oid: GitTree(door, oid, cache) for oid in {before, tree, settings}}
    trees[tree].entries()  # refuses a tree that no checkout could hold, before anything reads it
    return OpenChange(
        change=Change(
            repo=str(repo),
            base=commit,
            head=None,
            merge_base=commit,
            commits=(),
            files=changed_files(door, before, tree),
        ),
        base=trees[before],
        head=trees[tree],
        config=trees[settings],
        close=place.close,
    )


def open_buffer(file: Path, data: bytes) -> OpenChange:
    """One file with the text that an editor holds, against HEAD's version of it. All other files are as in
    the work tree on both sides, so that what it imports is there; settings come from HEAD.

    Raises UsageError (no repository, nothing committed, a file of no work tree; NothingToJudgeError where the
    text is HEAD's) or InconclusiveError.
    """
    place = _Workplace(file.parent)
    try:
        return _open_buffer(place, file, data)
    except BaseException:
        place.close()
        raise


def _open_buffer(place: _Workplace, file: Path, data: bytes) -> OpenChange:
    door = place.door
    root = work_tree(door)
    try:
        name = os.fsencode((file.parent.resolve() / file.name).relative_to(root.resolve()).as_posix())
    except ValueError as error:
        raise UsageError(f"{file} is in no work tree", advice="Open a file of a repository.") from error
    commit = resolve(door, "HEAD")
    settings = oid_of(door.run("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}"))
    known = place.run("ls-tree", "-z", commit, "--", os.fsdecode(name)).partition(b"\t")[0].split()
    _take_work_tree(place, root)
    zero = b"0" * len(door.empty_tree)
    mode, old = (known[0], known[2]) if len(known) == 3 and known[1] == b"blob" else (b"0", zero)
    before = _tree_with(place, mode + b" " + old, name)
    mode = mode if mode in (b"100644", b"100755") else b"100644"
    tree = _tree_with(place, mode + b" " + _store(place, data), name)
    door.objects = place.folder
    if tree == before:
        raise NothingToJudgeError(f"{file.name} is as at HEAD", advice="Change it.")
    return _as_change(place, root, commit, before, tree, settings=settings)


def _tree_with(place: _Workplace, entry: bytes, name: bytes) -> str:
    """The index as a tree, with this entry (``MODE OBJECT``; mode 0: none) for a name."""
    place.run("update-index", "-z", "--index-info", stdin=entry + b"\t" + name + b"\0")
    return oid_of(place.run("write-tree", "--missing-ok"))


def uncommitted_count(repo: Path) -> int:
    """How many paths differ from HEAD without being committed; 0 where there is no work tree."""
    place = _Workplace(repo)
    try:
        root = work_tree(place.door)
        staged = place.run("diff-index", "--cached", "--name-only", "-z", "--no-renames", "HEAD")
        loose = _differing(place, root)
        return len({name for name in (staged + loose).split(b"\0") if name})
    except (UsageError, InconclusiveError):
        return 0
    finally:
        place.close()


def work_tree(door: GitRepository) -> Path:
    """The folder that is checked out. Raises UsageError for a bare repository."""
    if door.git_dir.name == ".git":
        return door.git_dir.parent
    link = door.git_dir / "gitdir"  # of a linked work tree: the path of its .git file
    if link.is_file():
        return Path(os.fsdecode(link.read_bytes().strip())).parent
    raise UsageError(
        f"{door.shown} has no work tree", advice="Name a range of commits: --base REV --head REV."
    )


def _differing(place: _Workplace, root: Path) -> bytes:
    """Names of paths that differ from the index, each ended by NUL; ignored ones are not among them."""
    words = ["--modified", "--deleted", "--others", "--exclude-standard"]
    own = place.door.common_dir / "info" / "exclude"
    words += [f"--exclude-from={own}"] if own.is_file() else []
    return place.run("ls-files", "-z", *words, root=root)


def _take_work_tree(place: _Workplace, root: Path) -> None:
    """Bring the copied index to what lies in the work tree."""
    names = set(_differing(place, root).split(b"\0")) - {b""}
    if len(names) > _MOST:
        raise UsageError(
            f"more than {_MOST} files are not committed", advice="Commit or ignore some of them."
        )
    linked = {
        row.partition(b"\t")[2]
        for row in place.run("ls-files", "-z", "--stage").split(b"\0")
        if row.startswith(b"160000")
    }
    rows = b"".join(_rows(place, os.fsencode(root), sorted(names - linked)))
    place.run("update-index", "-z", "--index-info", stdin=rows)


def _rows(place: _Workplace, root: bytes, names: list[bytes]) -> Iterator[bytes]:
    """Lines for ``git update-index --index-info``; a path that is no file any more is taken out."""
    zero = b"0" * len(place.door.empty_tree)
    for name in names:
        if name.endswith(b"/"):  # a repository inside this one: its content is its own
            continue
        mode = _mode(os.path.join(root, name))  # noqa: PTH118 - bytes
        if mode is None:
            yield b"0 " + zero + b"\t" + name + b"\0"
            continue
        data = read_unfollowed(root, name, link=mode == b"120000")
        yield mode + b" " + _store(place, data) + b"\t" + name + b"\0"


def _mode(path: bytes) -> bytes | None:
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(found.st_mode):
        return b"120000"
    if not stat.S_ISREG(found.st_mode):
        return None
    return b"100755" if found.st_mode & stat.S_IXUSR else b"100644"


def _store(place: _Workplace, data: bytes) -> bytes:
    """Write one loose object into the private store; its name."""
    whole = b"blob %d\0" % len(data) + data
    name = hashlib.new(place.door.object_format, whole, usedforsecurity=False).hexdigest()
    path = place.folder / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(whole, 1))
    return name.encode()
