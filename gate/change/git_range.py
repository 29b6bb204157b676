"""Opens a git range as two trees and the difference between them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Final

from gate.change.blame import origins_of
from gate.change.commits import parse_commit
from gate.change.diff import changed_files
from gate.change.git_command import GitRepository, git_failed, oid_of
from gate.change.interface import OpenChange
from gate.change.notes import read_notes
from gate.change.objects import BlobCache, GitTree
from gate.errors import InconclusiveError, UsageError
from gate.model.change import Change, LineOrigin
from gate.regex import regex

_BAD_REVISION: Final = regex(r"[\x00-\x20\x7f]|\.\.|^[-:^]|^$")
_ANCESTOR: Final = regex(r"([^~^]+)[~^][0-9~^]*")
_MOST_COMMITS: Final = 20_000
_DEEPER: Final = "Fetch more history: `git fetch --unshallow`, or `fetch-depth: 0` for actions/checkout."


def open_range(repo: Path, base: str, head: str, *, branch: str | None = None) -> OpenChange:
    """Everything ``head`` has that ``base`` has not, compared at their merge base.

    Works on bare and shallow repositories and linked work trees; reads objects only. An empty
    range gives a change without commits and files.
    Raises UsageError (not a repository, unknown revision) or InconclusiveError (no common ancestor,
    objects missing).
    """
    door = GitRepository(repo)
    try:
        return _open(door, repo, base, head, branch)
    except BaseException:
        door.close()
        raise


def _open(door: GitRepository, repo: Path, base: str, head: str, branch: str | None) -> OpenChange:
    base_sha, head_sha = resolve(door, base), resolve(door, head)
    merge_base = _merge_base(door, base_sha, head_sha)
    listing = door.run(
        "rev-list", "--topo-order", "--reverse", f"--max-count={_MOST_COMMITS + 1}", head_sha, f"^{base_sha}"
    )
    names = listing.decode("ascii").split()
    if len(names) > _MOST_COMMITS:
        raise InconclusiveError(
            f"the range has more than {_MOST_COMMITS:,} commits",
            advice="Is --base the branch this change is meant for? Judge a smaller range.",
        )
    ends = list(dict.fromkeys((base_sha, head_sha, merge_base)))
    read = door.blobs((sha, 1024) for sha in (*ends, *names))  # one git for all of them
    said = dict(islice(read, len(ends)))
    commits = tuple(parse_commit(sha, raw) for sha, raw in read)
    cache = BlobCache()
    trees = {sha: GitTree(door, _tree_of(raw), cache) for sha, raw in said.items()}
    trees[head_sha].entries()  # refuses a tree that no checkout could hold, before anything reads it
    files = changed_files(door, trees[merge_base].oid, trees[head_sha].oid)
    return OpenChange(
        change=Change(
            repo=str(repo),
            base=base_sha,
            head=head_sha,
            merge_base=merge_base,
            commits=commits,
            files=files,
            branch=branch,
        ),
        base=trees[merge_base],
        head=trees[head_sha],
        config=trees[base_sha],
        notes=read_notes(door, [commit.sha for commit in commits]),
        committed=_committed(said[merge_base]),
        origins=_origins(door, merge_base, head_sha),
        close=door.close,
        head_tree=trees[head_sha].oid,
    )


def _committed(raw: bytes) -> int | None:
    """When a commit was made, as its object says (``committer NAME <MAIL> TIME ZONE``)."""
    for line in raw.partition(b"\n\n")[0].split(b"\n"):
        words = line.split()
        if line.startswith(b"committer ") and len(words) > 2 and words[-2].isdigit():
            return int(words[-2])
    return None


def _origins(door: GitRepository, since: str, head: str) -> Callable[[str], tuple[LineOrigin, ...]]:
    def origins(path: str) -> tuple[LineOrigin, ...]:
        return origins_of(door, since, head, path)

    return origins


def resolve(door: GitRepository, revision: str) -> str:
    """The full name of the commit a revision means. Raises UsageError for an unknown one."""
    if _BAD_REVISION.search(revision) or len(revision) > 500:
        raise UsageError(
            f"not a revision: {ascii(revision)[:80]}",
            advice="Name one commit: a branch, a tag or an object name.",
        )
    done = door.try_run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", deadline=30.0
    )
    if done.timed_out:
        raise git_failed("rev-parse", done)
    if done.code:
        advice = _DEEPER if door.shallow else _how_to_name_it(door, revision)
        raise UsageError(f"unknown revision {ascii(revision)[:80]} in {door.shown}", advice=advice)
    return oid_of(done.stdout)


def _how_to_name_it(door: GitRepository, revision: str) -> str:
    """What helps with a revision that a whole clone does not know."""
    ancestor = _ANCESTOR.fullmatch(revision)
    if (
        ancestor
        and door.try_run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ancestor[1]}^{{commit}}", deadline=30.0
        ).stdout
    ):
        return (
            f"{ascii(ancestor[1])[:80]} has no such ancestor: nothing is before a first commit. "
            "`gate run PATH` needs no history."
        )
    return f"`git -C {door.shown} fetch` it, or check the spelling."


def _merge_base(door: GitRepository, base: str, head: str) -> str:
    done = door.try_run("merge-base", base, head)
    if done.code == 0 and done.stdout:
        return oid_of(done.stdout)
    if done.code != 1 or done.timed_out:
        raise git_failed("merge-base", done)
    if door.shallow:
        raise InconclusiveError(
            "this shallow clone does not reach the merge base of base and head", advice=_DEEPER
        )
    raise InconclusiveError(
        "base and head have no common ancestor",
        advice="Is --base the branch this change is meant for? `gate run PATH` needs no history.",
    )


def _tree_of(raw: bytes) -> str:
    """The name of a commit's tree, with which its object begins. Raises InconclusiveError."""
    return oid_of(raw.partition(b"\n")[0].removeprefix(b"tree "))
