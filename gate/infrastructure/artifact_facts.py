"""What pipelines keep of a run for others to download: a report, or the working folder with its secrets.

Whoever can read a project can download its artifacts, and `.git/config` may hold the token of the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gate.infrastructure.facts import Fact
from gate.supply.yaml_data import Document, items, mapping

_UPLOADS: Final = re.compile(r"(?:^|/)upload-(?:artifact|pages-artifact|release-asset)[\w/-]*@")
_WHOLE: Final = re.compile(
    r"^(?:\.|\./|\*|\*\*|\./\*|\*\*/\*|\./\*\*(?:/\*)?|/|~/?|\$HOME/?|\$\{\{\s*(?:github\.workspace|runner\.temp|env\.HOME)\s*\}\}/?"
    r"|\$CI_PROJECT_DIR/?)$"
)
_SECRET: Final = re.compile(
    r"(?:^|/)(?:\.git(?:/|$)|\.env\b|\.ssh|\.aws|\.npmrc|\.docker|\.netrc|\.pypirc|[\w.-]+\.pem$)"
)


def artifact_facts(root: Mapping[str, object], path: str, document: Document) -> Iterator[Fact]:
    """Of a workflow of GitHub or a pipeline of GitLab; nothing of other files."""
    for job, body in mapping(root.get("jobs")).items():
        for index, step in enumerate(items(mapping(body).get("steps"))):
            said = mapping(step)
            if _UPLOADS.search(str(said.get("uses", ""))):
                given = mapping(said.get("with"))
                at = document.line(("jobs", job, "steps", index, "with")) or 1
                hidden = str(given.get("include-hidden-files", "")).lower() == "true"
                yield from _kept(str(given.get("path", "")).split("\n"), f"{path} {job}", at, hidden=hidden)
    for job, body in root.items():
        paths = mapping(mapping(body).get("artifacts")).get("paths")
        if paths:
            at = document.line((job, "artifacts", "paths")) or 1
            yield from _kept([str(one) for one in items(paths)], f"{path} {job}", at, hidden=True)


def _kept(paths: list[str], subject: str, line: int, *, hidden: bool) -> Iterator[Fact]:
    for one in (path.strip() for path in paths):
        if _SECRET.search(one) and not one.startswith("!"):
            yield Fact("grant", "artifact-secret", f"{subject} {one}", line, f"path: {one}")
        elif _WHOLE.match(one):
            text = f"path: {one}{', with hidden files' if hidden else ''}"
            yield Fact(
                "grant", "artifact-secret" if hidden else "artifact-whole", f"{subject} {one}", line, text
            )
