"""Images that a build argument puts into a Dockerfile, by whatever file."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.dependencies import Dependencies
from tests.prescreen_support import make_request

OWN = {"Dockerfile": "FROM docker.io/library/php:8.2\nCOPY . .\n"}
ARGUED = {"Dockerfile": "ARG PHP_IMAGE=docker.io/library/php:8.3\nFROM ${PHP_IMAGE}\nCOPY . .\n"}
PARTED = {"Dockerfile": "ARG REGISTRY=docker.io/library\nFROM $REGISTRY/php:8.3 AS build\n"}


def told(base: dict[str, str], head: dict[str, str]) -> list[str]:
    found = Dependencies().scan(make_request(head, base)).findings
    return [
        f.primary.path for f in found if f.rule_id == "supply.source-changed" and f.severity.value == "medium"
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("compose.yaml", "services:\n  w:\n    build:\n      args:\n        PHP_IMAGE: other/php:8.3\n"),
        ("compose.yaml", "services:\n  w:\n    build:\n      args:\n        - PHP_IMAGE=other/php:8.3\n"),
        ("docker-bake.hcl", 'target "w" {\n  args = {\n    PHP_IMAGE = "other/php:8.3"\n  }\n}\n'),
        ("docker-bake.json", '{"target": {"w": {"args": {"PHP_IMAGE": "other/php:8.3"}}}}\n'),
        ("Makefile", "PHP_IMAGE ?= other/php:8.3\nimage:\n\tdocker build .\n"),
        ("build.sh", "docker build --build-arg PHP_IMAGE=other/php:8.3 .\n"),
        ("build.sh", 'docker build --build-arg "PHP_IMAGE=other/php:8.3" .\n'),
        (".env", "PHP_IMAGE=other/php:8.3\n"),
        (
            ".github/workflows/b.yml",
            "jobs:\n  b:\n    steps:\n      - with:\n          build-args: PHP_IMAGE=o/php\n",
        ),
        (
            "skaffold.yaml",
            "build:\n  artifacts:\n    - docker:\n        buildArgs:\n          PHP_IMAGE: other/php\n",
        ),
    ],
)
def test_the_argument_is_of_another_owner(path: str, text: str) -> None:
    assert path in told(OWN, ARGUED | {path: text})
    assert path in told(ARGUED | {path: "\n"}, ARGUED | {path: text})


def test_a_registry_as_a_part_of_the_name() -> None:
    assert told(PARTED, PARTED | {".env": "REGISTRY=ghcr.io/other\n"}) == [".env"]


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ({}, {"compose.yaml": "services:\n  w:\n    build:\n      args:\n        PHP_IMAGE: php:8.4\n"}),
        ({}, {".env": "PHP_IMAGE=$OTHER/php\nPHP_IMAGE_SIZE=other/x\n"}),
        ({}, {"README.md": "docker build --build-arg PHP_IMAGE=other/php .\n"}),
        ({}, {"tests/build.sh": "docker build --build-arg PHP_IMAGE=other/php .\n"}),
        ({".env": "PHP_IMAGE=own/php:1\n"}, {".env": "PHP_IMAGE=own/php:2\n"}),
        (
            {"w.dockerfile": "FROM own/php\n"},
            {"w.dockerfile": "FROM own/php\n", ".env": "PHP_IMAGE=own/php:2\n"},
        ),
        ({}, {".env": "# PHP_IMAGE=other/php\nSIZE=1\n"}),
    ],
)
def test_the_same_owners(base: dict[str, str], head: dict[str, str]) -> None:
    assert told(ARGUED | base, ARGUED | head) == []
