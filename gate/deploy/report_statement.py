"""Joins change, report and deploy: statements out of reports, and the trees they are about."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gate.change.git_command import GitRepository, oid_of
from gate.change.git_range import resolve
from gate.deploy.statement import Bands, Digests, Predicate, Statement, sha256, statement
from gate.errors import UsageError
from gate.report import v1
from gate.report.json_v1 import decode

MAX_REPORT: Final = v1.MAX_BYTES


def read_file(path: Path, most: int) -> bytes:
    """A file's bytes, at most ``most`` of them. Raises UsageError when it is longer or cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > most:
        raise UsageError(f"{path} is larger than {most:,} bytes")
    return data


@contextlib.contextmanager
def opened(repo: Path) -> Iterator[GitRepository]:
    """Git on a repository, until the block ends."""
    door = GitRepository(repo)
    try:
        yield door
    finally:
        door.close()


def tree_of(door: GitRepository, commit: str) -> str:
    """The object name of a commit's tree."""
    return oid_of(door.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{tree}}"))


def statement_of(raw: bytes, repo: Path) -> Statement:
    """The unsigned statement of a report.json's bytes. ``repo`` knows the judged commit's tree.

    Raises UsageError for a report that names no commit, or does not say what judged.
    """
    found = decode(raw)
    if found.head is None or len(found.head) < 40 or found.made is None:
        raise UsageError(
            "this report is not about a commit, or does not say when and by what it was made",
            advice="Sign the report.json that `gate check --json` of this version wrote.",
        )
    with opened(repo) as door:
        commit = resolve(door, found.head)
        if commit != found.head:
            raise UsageError("the report's head is not the full name of a commit in this repository")
        tree = tree_of(door, commit)
    return statement(commit=commit, tree=tree, predicate=_predicate(found, sha256(raw)))


def _predicate(found: v1.ReportV1, digest: str) -> Predicate:
    made = found.made
    if made is None:
        raise ValueError("checked before")
    accepted = [o.until for o in found.overrides if o.accepted]
    return Predicate(
        verdict=found.verdict,
        score=found.score,
        thresholds=Bands(warn=found.thresholds.warn, fail=found.thresholds.fail),
        base=found.base,
        at=made.at,
        gate_version=found.gate_version,
        digests=Digests(policy=made.policy, rules=made.rules, gate=made.gate, report=digest),
        overridden=bool(accepted),
        overrides_until=min((until for until in accepted if until is not None), default=None),
    )
