"""Pipelines as inputs: whose code and images they run."""

from __future__ import annotations

import pytest

from gate.supply.inputs.difference import InputContext, compare
from gate.supply.inputs.model import Inputs
from gate.supply.inputs.pipelines import is_pipeline, read

CONCOURSE = "resources:\n  - {name: s, type: git, source: {uri: 'https://github.com/own/s'}}\njobs: []\n"
TYPE = "resource_types:\n  - name: %s\n    type: registry-image\n    source: {repository: %s, tag: '1'}\n"
TASK = "jobs:\n  - name: b\n    plan:\n      - task: t\n        config:\n          image_resource:\n"
TASK += "            source: {repository: %s}\n"
CIRCLE = "orbs:\n  node: %s/node@5\njobs:\n  b:\n    docker: [{image: cimg/base:1}]\n"
BUILDKITE = "steps:\n  - command: make\n    plugins:\n      - %s/x#v1: {a: b}\n"
TEKTON = "apiVersion: tekton.dev/v1\nspec:\n  tasks:\n    - name: b\n      taskRef:\n        resolver: git\n"
TEKTON += "        params: [{name: url, value: 'https://github.com/%s/t'}]\n---\nspec: {}\n"
ARGO = "spec:\n  templates:\n    - name: b\n      container: {image: '%s/x:1'}\n"
GITLAB = "include:\n  - {project: %s/ci, file: a.yml, ref: main}\n"
BITBUCKET = "pipelines:\n  default:\n    - step:\n        script:\n          - pipe: %s/deploy:1\n"
AZURE = "resources:\n  repositories:\n    - {repository: t, type: github, name: %s/templates}\n"
JENKINS = "@Library('%s@1') _\npipeline { agent { docker { image 'maven:3' } } }\n"
WOODPECKER = "steps:\n  build:\n    image: %s/golang\n"


def levels(old: str, new: str) -> list[str]:
    around = InputContext(known=frozenset, asks=lambda _: False)
    return [f"{one.what} {one.level}" for one in compare(read(old), read(new), around)]


@pytest.mark.parametrize("form", [CIRCLE, BUILDKITE, TEKTON, ARGO, GITLAB, BITBUCKET, AZURE, WOODPECKER])
def test_another_owner_under_the_same_name(form: str) -> None:
    assert levels(form % "own", form % "other")[0].startswith("source ")
    assert levels(form % "own", form % "own") == []


def test_a_resource_type_in_the_place_of_a_built_in_one() -> None:
    found = levels(CONCOURSE, CONCOURSE + TYPE % ("registry-image", "other/registry-image"))
    assert "alias medium" in found
    assert levels(CONCOURSE, CONCOURSE + TYPE % ("slack", "other/slack")) == ["new-source medium"]
    assert "alias medium" not in levels(CONCOURSE, CONCOURSE + TYPE % ("git", "concourse/git-resource"))


def test_images_of_tasks() -> None:
    assert levels(TASK % "own/builder", TASK % "other/builder") == ["source medium"]
    assert levels(TASK % "golang", TASK % "python") == []


def test_a_new_library_of_jenkins() -> None:
    assert levels("pipeline { }\n", JENKINS % "theirs")[0] == "new-source medium"
    assert levels(JENKINS % "ours", (JENKINS % "ours").replace("@1", "@2")) == []


def test_code_of_others_is_told_and_an_image_from_a_forge_is_a_note() -> None:
    assert levels("steps: []\n", BUILDKITE % "other") == ["new-source medium"]
    assert levels("steps: []\n", WOODPECKER % "other") == ["new-source low"]
    assert levels("steps: []\n", BUILDKITE % ".") == []


@pytest.mark.parametrize(
    "text", ["", "a: 1\n", "- 1\n", "a: [", "a: {b: $(x)}\nimage: $IMAGE\n", "image: '((x))'\n"]
)
def test_other_yaml_is_nothing(text: str) -> None:
    assert read(text) == Inputs(kind="pipelines")


def test_which_paths() -> None:
    yes = [
        "ci/release.yml",
        ".tekton/a.yaml",
        "deploy/pipeline.yml",
        "Jenkinsfile",
        ".drone.yml",
        ".gitlab-ci.yml",
    ]
    no = [".github/workflows/ci.yml", "config/app.yml", "ci/run.sh", "locales/de.yml"]
    assert all(map(is_pipeline, yes))
    assert not any(map(is_pipeline, no))
