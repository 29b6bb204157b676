"""Names that a project gives to commands: a workflow that calls one is read as what it runs."""

from __future__ import annotations

import json

import pytest

from gate.supply.workflows.change import compare, pack
from gate.supply.workflows.own_tasks import expanded, read_tasks

SCRIPTS = {"coverage": "vitest run --coverage", "quiet": "echo done", "all": "npm run coverage && pnpm quiet"}
PACKAGE = {"package.json": json.dumps({"scripts": SCRIPTS}).encode()}
MAKE = {
    "Makefile": b"A := -q\n\ncoverage: build\n\t@pytest --cov\n\nbuild other:\n\tcc x.c\n\nnothing:\n\ttrue\n"
}
WORKFLOW = """\
on: {pull_request: {branches: [main]}}
permissions: {contents: read}
jobs:
  test:
    runs-on: ubuntu-latest
    steps: [{uses: actions/checkout@v4}, {run: yarn test}, {name: coverage, run: COMMAND}]
"""


def level(was: str, now: str, files: dict[str, bytes], before: dict[str, bytes] | None = None) -> str:
    base, head = (WORKFLOW.replace("COMMAND", command).encode() for command in (was, now))
    frame = pack(base, head, (files if before is None else before, files))
    return compare(".github/workflows/ci.yml", frame, {})[0].level


@pytest.mark.parametrize(
    ("was", "now", "files", "lost"),
    [
        ("yarn jest --coverage", "yarn coverage", PACKAGE, False),
        ("yarn jest --coverage", "yarn quiet", PACKAGE, True),
        ("yarn jest --coverage", "yarn coverage", {}, True),
        ("npx vitest run", "npm run all", PACKAGE, False),
        ("pytest", "make coverage", MAKE, False),
        ("pytest", "make nothing", MAKE, True),
        ("yarn coverage && pytest", "yarn coverage", PACKAGE, True),
    ],
)
def test_a_check_behind_a_name_of_the_project(
    was: str, now: str, files: dict[str, bytes], lost: bool
) -> None:
    assert (level(was, now, files) == "high") is lost


def test_a_scanner_is_not_made_good_by_a_test() -> None:
    assert level("bandit -r src", "yarn coverage", PACKAGE) == "high"


def test_what_cannot_be_read_names_nothing() -> None:
    broken = {"package.json": b"{", "composer.json": b'{"scripts": ["x"]}', "Makefile": b"\xff\x00:\n\tx"}
    assert expanded(["npm run x", "make x"], read_tasks(broken)) == ["npm run x", "make x"]
    assert read_tasks({"package.json": b'{"scripts": {"a": "' + b"x" * (65 << 10) + b'"}}'}) == {}


def test_names_that_call_each_other_end() -> None:
    tasks = read_tasks({"package.json": b'{"scripts": {"a": "npm run b", "b": "npm run a"}}'})
    assert expanded(["npm run a"], tasks) == ["npm run a", "npm run b", "npm run a"]
    assert read_tasks(MAKE)["make coverage"].split("\n") == ["", "make build", "pytest --cov"]
