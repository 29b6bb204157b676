"""Evidence in the author's and the committer's identity."""

from __future__ import annotations

from collections.abc import Iterator

from gate.attribution.people import Identity, identify
from gate.model.attribution import AttributionEvidence
from gate.model.change import Commit


def identity_evidence(commit: Commit) -> Iterator[AttributionEvidence]:
    """What the two identities disclose; automation without AI is told as role ``bot``."""
    author = identify(commit.author_name, commit.author_email)
    yield from _told(author, "author", commit.author_name, commit.author_email)
    if (commit.committer_name, commit.committer_email) != (commit.author_name, commit.author_email):
        committer = identify(commit.committer_name, commit.committer_email)
        # Whoever pressed the merge button is not news; an agent that committed is.
        if committer and committer.kind != "bot":
            yield from _told(committer, "committer", commit.committer_name, commit.committer_email)


def _told(found: Identity | None, place: str, name: str, email: str) -> Iterator[AttributionEvidence]:
    if found:
        yield AttributionEvidence(
            kind="identity",
            where=f"{place}.{'name' if found.kind == 'name' else 'email'}",
            matched=f"{name} <{email}>"[:200],
            tool=found.tool,
            confidence=found.confidence,
            role=found.role or "author",
        )
