"""Where the repository of a folder is: git's own search (setup.c), read without starting git.

git would read the repository's configuration first. Nothing here does: two small files at most, and names.
The caller's environment (``GIT_DIR`` of a hook) has no say.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from gate.regex import regex

_HEAD: Final = regex(rb"ref:\s*refs/|[0-9A-Fa-f]{64}|[0-9A-Fa-f]{40}")
"""How the file ``HEAD`` of a git directory begins."""
_NAMED: Final = b"gitdir: "
"""How the file ``.git`` of a linked work tree or a submodule begins."""
_MOST: Final = 1 << 20
"""Bytes of such a file that git reads."""


class GitLocation(NamedTuple):
    """``git_dir`` holds HEAD and the index, ``common_dir`` objects and refs; one folder in most clones."""

    git_dir: Path
    common_dir: Path


def locate(path: Path) -> GitLocation | None:
    """The repository at or above ``path``, by absolute names; None where there is none."""
    start = Path(os.path.abspath(path))  # noqa: PTH100  # without "..", as git
    for folder in (start, *start.parents):
        dot = folder / ".git"
        named = dot if dot.is_dir() else _named(dot)
        for git_dir in (named, folder):
            if git_dir is not None and (common := _common(git_dir)) is not None:
                return GitLocation(git_dir, common)
            if git_dir is named and not dot.is_dir() and dot.exists():
                return None  # a broken file `.git` ends git's search, too
    return None


def _named(dot: Path) -> Path | None:
    """The git directory that a file ``.git`` names."""
    try:
        told = dot.stat()
        text = dot.read_bytes() if stat.S_ISREG(told.st_mode) and told.st_size <= _MOST else b""
    except OSError:
        return None
    name = text.rstrip(b"\r\n").removeprefix(_NAMED)
    if not text.startswith(_NAMED) or not name or b"\0" in name:
        return None
    return Path(os.path.normpath(dot.parent / os.fsdecode(name)))


def _common(git_dir: Path) -> Path | None:
    """The common directory of a git directory; None where this is none."""
    try:
        text = (git_dir / "commondir").read_bytes().rstrip(b"\r\n")
    except FileNotFoundError:
        common = git_dir
    except OSError:
        return None
    else:
        if not text or b"\0" in text:
            return None
        common = git_dir / os.fsdecode(text)
    right = _has_head(git_dir / "HEAD") and (common / "objects").is_dir() and (common / "refs").is_dir()
    return common if right else None


def _has_head(head: Path) -> bool:
    try:
        if head.is_symlink():
            return str(head.readlink()).startswith("refs/")
        with head.open("rb") as file:
            return _HEAD.match(file.read(256)) is not None
    except OSError:
        return False
