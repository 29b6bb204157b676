"""Pipelines as inputs: which code and which images they run, and whose they are.

Concourse, Tekton, Argo, Buildkite, Drone, Woodpecker, CircleCI, GitLab, Bitbucket, Azure and Jenkins. What
runs there has the pipeline's credentials at hand. GitHub's workflows are read elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from gate.regex import regex
from gate.supply.inputs.images import image
from gate.supply.inputs.model import Input, Inputs
from gate.supply.inputs.text import table_of, tables_of, text_of, texts_of
from gate.supply.yaml_data import UnreadableYamlError, read_yaml_documents

_FOLDERS: Final = frozenset({
    "ci", ".ci", "concourse", "pipelines", "pipeline", ".pipelines", ".tekton", "tekton",
    "argo", "argocd", "k8s",
    "kubernetes", "manifests", "deploy", "deployment", "deployments",
    ".buildkite", "buildkite", ".woodpecker", ".circleci", ".gitlab", ".azure-pipelines", ".drone",
})  # fmt: skip
_NAMES: Final = regex(
    r"(?:pipeline|workflowtemplate|\.gitlab-ci|\.drone|\.woodpecker|azure-pipelines|taskrun)[^/]*\.ya?ml$"
)
_BUILT_IN: Final = frozenset({
    "registry-image", "git", "time", "s3", "pool", "semver", "github-release", "docker-image", "mock", "hg",
    "bosh-io-release", "bosh-io-stemcell", "concourse-pipeline", "cf", "bosh-deployment", "gcs", "tracker",
    "datadog-event",
})  # fmt: skip
"""Resource types that Concourse has by itself: one of the same name takes their place in every step."""
_LIBRARY: Final = regex(
    r"@Library\(\s*\[?([^)\]]{1,300})\]?\s*\)|\blibrary\s*\(?\s*(?:identifier\s*:\s*)?(['\"][^'\"]{1,200})"
)
_QUOTED: Final = regex(r"['\"]([^'\"@]{1,200})(?:@([^'\"]{0,100}))?")
_REMOTE: Final = regex(r"\bremote\s*:\s*['\"]([^'\"]{3,300})['\"]")
_AGENT: Final = regex(r"\bimage\s*[:=(]?\s*['\"]([^'\"\s$]{3,200})['\"]")
_DEEPEST: Final = 16


def is_pipeline(path: str) -> bool:
    """May a file with this path be a pipeline? What it is, its text says."""
    at = PurePosixPath(path.lower())
    if at.name.startswith("jenkinsfile") or at.suffix == ".jenkinsfile":
        return True
    if at.suffix not in (".yml", ".yaml") or ".github" in at.parts:
        return False
    return bool(_NAMES.search(at.name)) or not _FOLDERS.isdisjoint(at.parts[:-1])


def read(text: str) -> Inputs:
    """What a pipeline runs; other YAML has none of it, and is nothing."""
    if text.lstrip().startswith(("//", "@", "pipeline {", "pipeline{", "node", "#!", "library", "/*")):
        return Inputs(kind="pipelines", inputs=tuple(dict.fromkeys(_jenkins(text))))
    try:
        documents = [one.data for one in read_yaml_documents(text.encode("utf-8", "replace"))]
    except (UnreadableYamlError, RecursionError, ValueError):
        return Inputs(kind="pipelines")
    found = [one for document in documents for one in _walked(document, "")]
    return Inputs(kind="pipelines", inputs=tuple(one for one in dict.fromkeys(found) if "(" not in one.where))


def _walked(value: object, at: str, depth: int = 0) -> Iterator[Input]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for number, one in enumerate(value):
            table = table_of(one)
            label = next(
                (said for key in ("name", "task", "job", "get", "put") if (said := text_of(table.get(key)))),
                "",
            )
            yield from _walked(one, f"{at}/{label or number}" if at else label or str(number), depth + 1)
    elif isinstance(value, dict):
        yield from _of_table(value, at)
        for key, one in value.items():
            if key not in ("resource_types", "resources") or not isinstance(one, list):
                yield from _walked(one, f"{at}/{key}" if at else str(key), depth + 1)


def _of_table(table: Mapping[str, object], at: str) -> Iterator[Input]:
    if isinstance(table.get("resource_types"), list) or isinstance(table.get("resources"), list):
        yield from _concourse(table)
    said = text_of(table.get("image")) or text_of(table_of(table.get("image")).get("name"))
    if said and not re.search(r"[\s${(]", said):
        yield image(said, f"{at} image".strip())
    source = table_of(table_of(table.get("image_resource")).get("source"))
    if repository := text_of(source.get("repository")):
        yield image(_tagged(repository, source), f"{at} image".strip())
    yield from _tekton(table, at)
    yield from _buildkite(table)
    for name, orb in table_of(table.get("orbs")).items():
        if text_of(orb):
            yield _code(f"orb {name}", f"orb://circleci.com/{text_of(orb).partition('@')[0]}", text_of(orb))
    if pipe := text_of(table.get("pipe")):
        bare = pipe.removeprefix("docker://").partition(":")[0]
        yield _code(f"pipe {bare.rpartition('/')[2]}", f"https://bitbucket.org/{bare}", pipe)
    yield from _included(table.get("include"))
    for one in tables_of(table_of(table.get("resources")).get("repositories")):
        if name := text_of(one.get("name")):
            host = "github.com" if "git" in text_of(one.get("type")) and "/" in name else "dev.azure.com"
            yield _code(
                f"repository {text_of(one.get('repository'))}",
                f"https://{host}/{name}",
                text_of(one.get("ref")),
            )


def _code(name: str, where: str, version: str = "", actual: str = "") -> Input:
    return Input(name=name, kind="vcs", where=where, version=version, actual=actual, credentialed=True)


def _tagged(repository: str, source: Mapping[str, object]) -> str:
    tag = text_of(source.get("tag"))
    return repository + (f":{tag}" if tag else "")


def _concourse(table: Mapping[str, object]) -> Iterator[Input]:
    """Programs behind the types of resources, and where resources are taken from and put."""
    for one in tables_of(table.get("resource_types")):
        name, source = text_of(one.get("name")), table_of(one.get("source"))
        if repository := text_of(source.get("repository")):
            got = image(_tagged(repository, source), f"resource type {name}")
            stands = (
                got.where.removeprefix("oci://")
                if name in _BUILT_IN and "/concourse/" not in got.where
                else ""
            )
            yield replace(got, credentialed=True, actual=stands)
    for one in tables_of(table.get("resources")):
        source = table_of(one.get("source"))
        name = f"resource {text_of(one.get('name'))}"
        if (where := text_of(source.get("uri"))) and "((" not in where:
            yield Input(name=name, kind="vcs", where=where)
        elif (where := text_of(source.get("repository"))) and "((" not in where and "/" in where:
            yield image(where, name)


def _tekton(table: Mapping[str, object], at: str) -> Iterator[Input]:
    if (bundle := text_of(table.get("bundle"))) and "/" in bundle and "$" not in bundle:
        yield replace(image(bundle, f"{at} bundle"), credentialed=True)
    if not (resolver := text_of(table.get("resolver"))):
        return
    params = {text_of(one.get("name")): text_of(one.get("value")) for one in tables_of(table.get("params"))}
    if where := params.get("url") or params.get("bundle") or params.get("repo"):
        if resolver == "bundles":
            yield replace(image(where, f"{at} task"), credentialed=True)
        elif "$" not in where:
            yield _code(f"{at} task", where, params.get("revision", ""))


def _buildkite(table: Mapping[str, object]) -> Iterator[Input]:
    plugins = table.get("plugins")
    named = [*texts_of(plugins), *(name for one in tables_of(plugins) for name in one)]
    for plugin in named if isinstance(plugins, list) else []:
        bare, mark, version = plugin.partition("#")
        if not mark or "$" in bare or bare.startswith("./"):
            continue
        if "://" in bare or bare.startswith("git@"):
            where = bare
        else:
            owner = bare if "/" in bare else f"buildkite-plugins/{bare}"
            where = f"https://github.com/{owner}-buildkite-plugin"
        yield _code(f"plugin {bare.rpartition('/')[2]}", where, version)


def _included(value: object) -> Iterator[Input]:
    """GitLab's ``include``: other projects' files, components, addresses."""
    for one in [table_of(value)] if isinstance(value, dict) else tables_of(value):
        if (project := text_of(one.get("project"))) and "$" not in project:
            files = one.get("file")
            file = text_of(files) or " ".join(texts_of(files))
            yield _code(
                f"include {file.rpartition('/')[2]}", f"https://gitlab.com/{project}", text_of(one.get("ref"))
            )
        elif remote := text_of(one.get("remote")):
            yield replace(_code(f"include {remote.rpartition('/')[2]}", remote), kind="url")
        elif component := text_of(one.get("component")):
            where, _, version = component.partition("@")
            where = where.replace("$CI_SERVER_FQDN", "gitlab.com")
            if "$" not in where:
                yield _code(f"component {where.rpartition('/')[2]}", f"https://{where}", version)


def _jenkins(text: str) -> Iterator[Input]:
    """Shared libraries, by name where the controller knows the place, else by the place; images of agents."""
    for match in _LIBRARY.finditer(text):
        for name, version in _QUOTED.findall(match[1] or match[2]):
            yield _code(f"library {name}", f"library://jenkins/{name}", version)
    for match in _REMOTE.finditer(text):
        yield _code("library", match[1])
    for match in _AGENT.finditer(text):
        yield image(match[1], "agent image")
