"""Names of jobs and branches in changed workflows: shared ones, new ones, those that another takes."""

from __future__ import annotations

import pytest

from gate.supply.workflows.change import compare, pack

TWINS = """\
on: {push: {branches: [master]}, pull_request: {branches: [master]}}
permissions: {contents: read}
jobs:
  one: {name: Bench, runs-on: ubuntu-latest, steps: [{uses: actions/checkout@v4}]}
  two: {name: Bench, runs-on: ubuntu-latest, steps: [{uses: actions/checkout@v4}, {run: pytest}]}
"""


@pytest.mark.parametrize(
    ("was", "now", "high"),
    [
        pytest.param("checkout@v4}]", "checkout@v5}]", False, id="jobs-that-shared-a-name-before"),
        pytest.param("  one: {name: Bench", "  one: {name: Other", False, id="one-of-them-renamed"),
        pytest.param(
            "  two:", "  more: {name: Bench, runs-on: x, steps: []}\n  two:", True, id="a-third-of-that-name"
        ),
        pytest.param("master", "main", False, id="the-main-branch-has-another-name"),
        pytest.param(
            "pull_request: {branches: [master]", "pull_request: {branches: [x]", True, id="not-for-push"
        ),
    ],
)
def test_names_of_jobs_and_branches(was: str, now: str, high: bool) -> None:
    assert was in TWINS
    told = compare(".github/workflows/ci.yml", pack(TWINS.encode(), TWINS.replace(was, now).encode()), {})
    assert (told[0].level == "high") is high, told
