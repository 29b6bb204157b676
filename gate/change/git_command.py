"""The one hardened door to git.

git never sees the repository's own configuration. Every command runs against a private, empty
git directory (the *shadow*) whose object store is the real one, read in place, and whose refs are
the real ones. So nothing that a repository can hold is able to start a program or bend the
result: no config (fsmonitor, sshCommand, textconv, filters, aliases, pager, includes), no hooks, no
``info/attributes``, no grafts, no replace objects, no promisor remote to fetch from. As nothing of
a foreign repository acts, ``safe.directory`` (which guards against exactly that) is not needed.

This also neutralises ``.gitattributes`` on every git version: a bare directory has no work tree to
read them from; where newer versions read them from HEAD, ``GIT_ATTR_SOURCE`` names the empty tree
(git 2.41; older ones ignore the variable and have no such feature).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from gate.errors import InconclusiveError, UsageError
from gate.process import Done, run
from gate.regex import regex

EMPTY_TREE: Final = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_HARD: Final = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.commitGraph=false",
    "core.bigFileThreshold=4m",
    "core.quotePath=true",
    "safe.bareRepository=explicit",
    "protocol.allow=never",
    "diff.ignoreSubmodules=none",
    "gc.auto=0",
)
_PSEUDO_REFS: Final = ("HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD")
_OID: Final = regex(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
BATCH_BYTES: Final = 24 << 20
"""How much of the object store is held in memory at once, bytes."""


class GitRepository:
    """git on one repository. ``path`` may be a work tree, a folder in one, or a bare repository."""

    def __init__(self, path: Path) -> None:
        """Find the repository and set up the shadow. Raises UsageError when there is none."""
        self.git_dir, self.common_dir = _locate(path)
        self.shown = str(path)
        config = self._format()
        self.object_format = config.get("extensions.objectformat", "sha1").lower()
        if self.object_format not in EMPTY_TREE:
            raise InconclusiveError(f"this repository names its objects by {self.object_format[:20]!r}")
        self.shallow = (self.common_dir / "shallow").exists()
        self.objects = self.common_dir / "objects"
        """Where objects are read from; a folder that borrows these may take its place."""
        self.shadow = Path(tempfile.mkdtemp(prefix="gate-git-"))
        try:
            self._furnish(config)
        except OSError as error:
            self.close()
            raise _unreadable(self.shown, error) from error

    @property
    def empty_tree(self) -> str:
        """The object name of the empty tree, which git knows without storing it."""
        return EMPTY_TREE[self.object_format]

    def close(self) -> None:
        """Remove the shadow. May be called twice."""
        shutil.rmtree(self.shadow, ignore_errors=True)

    def argv(self, *words: str) -> list[str]:
        """The full command line for a git sub-command."""
        settings = [word for setting in _HARD for word in ("-c", setting)]
        return ["git", "--no-pager", "--literal-pathspecs", *settings, *words]

    def environment(self) -> dict[str, str]:
        """Everything git's child may know, on top of gate's clean environment."""
        return {
            "GIT_DIR": str(self.shadow),
            "GIT_OBJECT_DIRECTORY": str(self.objects),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ATTR_SOURCE": self.empty_tree,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": str(self.shadow),
            "XDG_CONFIG_HOME": str(self.shadow),
        }

    def try_run(
        self,
        *words: str,
        stdin: bytes = b"",
        deadline: float = 120.0,
        cap: int = 256 << 20,
        extra: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Done:
        """Run a sub-command and return how it ended, whatever that was. ``extra``: more environment."""
        return run(
            self.argv(*words),
            deadline=deadline,
            stdin=stdin,
            cwd=cwd or self.shadow,
            env=self.environment() | dict(extra or {}),
            cap=cap,
        )

    def run(
        self,
        *words: str,
        stdin: bytes = b"",
        deadline: float = 120.0,
        cap: int = 256 << 20,
        extra: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> bytes:
        """Run a sub-command that must succeed; its output. Raises InconclusiveError otherwise."""
        done = self.try_run(*words, stdin=stdin, deadline=deadline, cap=cap, extra=extra, cwd=cwd)
        if not done.ok:
            raise git_failed(words[0], done)
        return done.stdout

    def blobs(self, wanted: Iterable[tuple[str, int]]) -> Iterator[tuple[str, bytes]]:
        """Contents of objects by name, in order, read in batches of at most BATCH_BYTES.

        ``wanted`` pairs an object name with its size in bytes (a hint for batching).
        Raises InconclusiveError for an object that the store does not have (partial clone).
        """
        batch: list[str] = []
        weight = 0
        for oid, size in wanted:
            if batch and weight + size > BATCH_BYTES:
                yield from self._batch(batch, weight)
                batch, weight = [], 0
            batch.append(oid)
            weight += size + 256
        if batch:
            yield from self._batch(batch, weight)

    def _batch(self, oids: list[str], weight: int) -> Iterator[tuple[str, bytes]]:
        out = self.run(
            "cat-file",
            "--batch",
            "--buffer",
            stdin="".join(f"{oid}\n" for oid in oids).encode(),
            cap=weight * 2 + (64 << 20),
        )
        at = 0
        for oid in oids:
            end = out.index(b"\n", at)
            head = out[at:end].split()
            if len(head) != 3:
                raise InconclusiveError(
                    f"git has no object {oid[:12]}",
                    advice="Partial clones lack files; fetch the whole history (no --filter).",
                )
            size = int(head[2])
            yield oid, out[end + 1 : end + 1 + size]
            at = end + 1 + size + 1

    def _format(self) -> dict[str, str]:
        """The few keys of the repository's config that say how its store is laid out.

        `git config --file` only reads: includes stay off, nothing is executed.
        """
        done = run(
            ["git", "config", "--file", self.common_dir / "config", "--no-includes", "-z", "--list"],
            deadline=10.0,
            cwd=Path("/"),
            env={"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_DIR": "/nonexistent"},
            cap=1 << 20,
        )
        pairs = (item.partition("\n") for item in done.stdout.decode("utf-8", "replace").split("\0"))
        return {key.lower(): value for key, _, value in pairs if key.lower().startswith("extensions.")}

    def _furnish(self, config: dict[str, str]) -> None:
        lines = ["[core]", "\tbare = true", "\trepositoryformatversion = 1"]
        lines += ["[extensions]", f"\tobjectFormat = {self.object_format}"]
        if config.get("extensions.refstorage", "files").lower() == "reftable":
            lines += ["\trefStorage = reftable"]
            (self.shadow / "reftable").symlink_to(self.common_dir / "reftable")
        (self.shadow / "config").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for name in _PSEUDO_REFS:
            with contextlib.suppress(FileNotFoundError):
                (self.shadow / name).write_bytes((self.git_dir / name).read_bytes()[: 1 << 16])
        refs = self.common_dir / "refs"
        (self.shadow / "refs").symlink_to(refs) if refs.is_dir() else (self.shadow / "refs").mkdir()
        if (self.common_dir / "packed-refs").exists():
            (self.shadow / "packed-refs").symlink_to(self.common_dir / "packed-refs")
        if (self.common_dir / "logs").is_dir():
            (self.shadow / "logs").symlink_to(self.common_dir / "logs")
        if self.shallow:
            shutil.copyfile(self.common_dir / "shallow", self.shadow / "shallow")
        if not os.access(self.common_dir / "objects", os.R_OK | os.X_OK):
            raise PermissionError(13, "Permission denied", str(self.common_dir / "objects"))


def oid_of(text: bytes) -> str:
    """The object name in git's answer. Raises InconclusiveError when it is not one."""
    word = text.strip()
    if not _OID.fullmatch(word):
        raise InconclusiveError("git did not answer with an object name")
    return word.decode("ascii")


def git_failed(verb: str, done: Done) -> InconclusiveError:
    """Our side could not read the repository: say how git ended."""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    how = "ran out of time" if done.timed_out else "said too much" if done.truncated else ""
    detail = how or (said[-1][:300] if said else f"ended with {done.code}")
    return InconclusiveError(
        f"git {verb} failed: {detail}",
        advice="Is the clone whole? `git fsck` tells; a partial or damaged clone cannot be judged.",
    )


def _locate(path: Path) -> tuple[Path, Path]:
    """(git directory, common directory) of the repository at or above ``path``."""
    try:
        there = path.is_dir()
    except OSError as error:
        raise _unreadable(str(path), error) from error
    if not there:
        raise UsageError(f"{path} is not a folder", advice="Give --repo the folder of a git repository.")
    if (plain := _plain(path)) is not None:
        return plain, plain
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import git

    try:
        with git.Repo(path.absolute(), search_parent_directories=True, expand_vars=False) as repo:
            return Path(repo.git_dir).absolute(), Path(repo.common_dir).absolute()
    except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
        if _refused(path):
            raise _unreadable(str(path), PermissionError(13, "Permission denied")) from error
        raise UsageError(
            f"{path} is not in a git repository",
            advice="Give --repo its folder, or use `gate run PATH` for loose files.",
        ) from error
    except OSError as error:
        raise _unreadable(str(path), error) from error


def _plain(path: Path) -> Path | None:
    """The git directory of an ordinary work tree at or above ``path``, which has all in itself.

    None for all else (bare, linked, borrowed, broken, unreadable): GitPython says what that is. Importing it
    costs more than a small repository's whole difference, and starts git twice.
    """
    if "GIT_COMMON_DIR" in os.environ or "GIT_OBJECT_DIRECTORY" in os.environ:
        return None
    here = Path(os.path.normpath(path.absolute()))
    for folder in (here, *here.parents):
        dot = folder / ".git"
        try:
            if (dot / "HEAD").is_file() and _has_own(dot) and not (dot / "commondir").exists():
                return dot
            if os.path.lexists(dot) or os.path.lexists(folder / "HEAD"):
                return None
        except OSError:
            return None
    return None


def _has_own(folder: Path) -> bool:
    """Its own objects and refs, and a HEAD that git takes for one."""
    with (folder / "HEAD").open("rb") as file:
        head = file.read(256)
    known = head.startswith(b"ref: refs/") or _OID.match(head) is not None
    return known and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _refused(path: Path) -> bool:
    """True when there is a ``.git`` here that this user may not read."""
    dot = path / ".git"
    try:
        return dot.exists() and not os.access(dot, os.R_OK | os.X_OK)
    except OSError:
        return True


def _unreadable(shown: str, error: OSError) -> UsageError:
    return UsageError(
        f"cannot read the repository at {shown}: {error.strerror or error}",
        advice="It belongs to another user; run gate as its owner or give read access to it.",
    )
