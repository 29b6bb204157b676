"""The range that is meant when none is named: what HEAD has that the default branch has not."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gate.change.git_command import GitRepository
from gate.change.git_range import resolve
from gate.errors import UsageError

_NAMES: Final = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/upstream/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
    "refs/heads/trunk",
    "refs/heads/develop",
)
"""Where the default branch is looked for, in this order: what the remote says, then the usual names."""


def default_branch(repo: Path) -> str | None:
    """The full name of the default branch, None where there is none. Raises UsageError: no repository."""
    door = GitRepository(repo)
    try:
        return _named(door)
    finally:
        door.close()


def default_base(repo: Path, head: str = "HEAD") -> str:
    """The full name of the default branch (``refs/remotes/origin/main``) that ``head`` is judged against.

    Raises UsageError where there is none, or where ``head`` has nothing that it has not: that would
    be an empty check.
    """
    door = GitRepository(repo)
    try:
        tip = resolve(door, head)
        name = _named(door)
        if name is None:
            raise UsageError(
                "which change? no default branch was found (origin's HEAD, main, master)",
                advice="Name the range: gate check --base REV [--head REV]; or use --staged or --worktree.",
            )
        if door.try_run("merge-base", "--is-ancestor", tip, resolve(door, name)).code == 0:
            short = name.removeprefix("refs/").removeprefix("heads/").removeprefix("remotes/")
            raise UsageError(
                f"which change? {head[:80]} has no commit that {short} has not",
                advice="Its last commit alone: gate check --base HEAD~1. What is not committed: --worktree.",
            )
        return name
    finally:
        door.close()


def _named(door: GitRepository) -> str | None:
    found = next((name for name in _NAMES if _exists(door, name)), None)
    if found is None:
        return None
    behind = door.try_run("symbolic-ref", "--quiet", found).stdout.decode("utf-8", "replace").strip()
    return behind or found


def _exists(door: GitRepository, name: str) -> bool:
    return door.try_run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").ok
