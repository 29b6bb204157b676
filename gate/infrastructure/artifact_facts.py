"""What pipelines keep of a run for others to download: a report, or the working folder with its secrets.

Whoever can read a project can download its artifacts, and `.git/config` may hold the token of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.infrastructure.facts import Fact
from gate.regex import regex
from gate.supply.yaml_data import Document, items, mapping

_PIPELINE: Final = regex(
    r"(?:^|/)(?:\.circleci/|azure-pipelines|\.azure|buildspec|codebuild|bitbucket-pipelines|\.buildkite/|\.pipelines/)"
)
_KEEPS: Final = frozenset(
    {"store_artifacts", "persist_to_workspace", "save_cache", "artifact_paths", "publish"}
)
_PATHS: Final = ("path", "paths", "targetPath", "PathtoPublish")
_DEEPEST: Final = 30
_UPLOADS: Final = regex(r"(?:^|/)upload-(?:artifact|pages-artifact|release-asset)[\w/-]*@")
_WHOLE: Final = regex(
    r"^(?:\.|\./|\*|\*\*|\./\*|\*\*/\*|\./\*\*(?:/\*)?|/|~/?|\$HOME/?|\$\{\{\s*(?:github\.workspace|runner\.temp|env\.HOME)\s*\}\}/?"
    r"|\$CI_PROJECT_DIR/?)$"
)
_SECRET: Final = regex(
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
    if _PIPELINE.search(path):
        yield from _others(root, path, document)


def _others(root: Mapping[str, object], path: str, document: Document) -> Iterator[Fact]:
    """AWS CodeBuild's artifacts and caches, and steps of CircleCI, Azure and Bitbucket."""
    if "phases" in root:
        kept = mapping(root.get("artifacts"))
        for name, said in {"artifacts": kept, **mapping(kept.get("secondary-artifacts"))}.items():
            if not mapping(said).get("base-directory"):
                files = [str(one) for one in items(mapping(said).get("files"))]
                yield from _kept(files, f"{path} {name}", document.line(("artifacts",)) or 1, hidden=True)
    for where, key, value in _steps(root, ()):
        said = value
        if isinstance(value, Mapping):
            said = next((value[name] for name in _PATHS if name in value), "")
        files = [str(one) for one in items(said)] or [str(said or "")]
        yield from _kept(files, f"{path} {key}", document.line(where) or 1, hidden=True)


_Where = tuple[str | int, ...]


def _steps(value: object, where: _Where, depth: int = 0) -> Iterator[tuple[_Where, str, object]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        task = str(value.get("task", ""))
        if task.startswith(("PublishBuildArtifacts@", "PublishPipelineArtifact@")):
            yield (*where, "task"), task.partition("@")[0], value.get("inputs")
        for key, inner in value.items():
            if key in _KEEPS or (key == "artifacts" and isinstance(inner, list)):
                yield (*where, key), key, inner
            else:
                yield from _steps(inner, (*where, str(key)), depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _steps(inner, (*where, index), depth + 1)


def _kept(paths: list[str], subject: str, line: int, *, hidden: bool) -> Iterator[Fact]:
    for one in (path.strip() for path in paths):
        if _SECRET.search(one) and not one.startswith("!"):
            yield Fact("grant", "artifact-secret", f"{subject} {one}", line, f"path: {one}")
        elif _WHOLE.match(one):
            text = f"path: {one}{', with hidden files' if hidden else ''}"
            yield Fact(
                "grant", "artifact-secret" if hidden else "artifact-whole", f"{subject} {one}", line, text
            )
