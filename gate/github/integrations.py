"""What a team may switch on: SARIF upload, labels, reviewers."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable
from typing import Final

import msgspec

from gate.github.interface import Api, MissingError, RefusedError, path, repository

AI_LABEL: Final = "ai-authored"
BLOCKED_LABEL: Final = "gate:blocked"
MOST_SARIF: Final = 10 << 20
"""GitHub's limit for the compressed file, bytes."""


class _Upload(msgspec.Struct):
    id: str = ""


class _Label(msgspec.Struct):
    name: str


def upload_sarif(api: Api, repo: str, sarif: str, *, sha: str, ref: str) -> str:
    """Hand a log to code scanning; returns the upload's id. ``ref`` as ``refs/pull/7/head``.

    Repeating is harmless: an analysis of the same tool, category and commit replaces the one before.
    Raises RefusedError when the log is over GitHub's limit.
    """
    packed = gzip.compress(sarif.encode("ascii"), mtime=0)
    if len(packed) > MOST_SARIF:
        raise RefusedError(f"the SARIF file is {len(packed):,} bytes compressed, GitHub takes {MOST_SARIF:,}")
    body = {"commit_sha": sha, "ref": ref, "sarif": base64.b64encode(packed).decode(), "tool_name": "gate"}
    where = path("repos", *repository(repo), "code-scanning", "sarifs")
    return api.send("POST", where, body, _Upload, repeatable=True).id


def set_labels(api: Api, repo: str, number: int, wanted: dict[str, bool]) -> None:
    """Make each label present (True) or absent; others stay. Setting labels twice changes nothing."""
    where = path("repos", *repository(repo), "issues", number, "labels")
    there = {label.name for label in api.pages(where, _Label)}
    missing = sorted(name for name, want in wanted.items() if want and name not in there)
    if missing:
        api.send("POST", where, {"labels": missing}, type(None), repeatable=True)
    for name in sorted(name for name, want in wanted.items() if not want and name in there):
        gone = path("repos", *repository(repo), "issues", number, "labels", name)
        try:
            api.send("DELETE", gone, None, type(None))
        except MissingError:
            continue


def request_reviewers(api: Api, repo: str, number: int, names: Iterable[str], *, author: str) -> None:
    """Ask people (``login``) and teams (``org/team``) for a review; never the author. Safe to repeat."""
    people = [n for n in names if "/" not in n and n.lower() != author.lower()]
    teams = [n.partition("/")[2] for n in names if "/" in n]
    if people or teams:
        body = {"reviewers": people, "team_reviewers": teams}
        where = path("repos", *repository(repo), "pulls", number, "requested_reviewers")
        api.send("POST", where, body, type(None), repeatable=True)


__all__ = ["AI_LABEL", "BLOCKED_LABEL", "request_reviewers", "set_labels", "upload_sarif"]
