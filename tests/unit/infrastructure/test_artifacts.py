"""What workflows and pipelines keep of a run for others to download."""

from __future__ import annotations

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read

FLOW = "jobs:\n  t:\n    steps:\n    - uses: actions/upload-artifact@v4\n      with: {{ name: r, {} }}\n"
LAB = "t:\n  script: [make]\n  artifacts:\n    paths: [{}]\n"


def told(base: str, head: str, path: str = ".github/workflows/ci.yml") -> set[str]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return {one.fact.what for one in differences(old, new, {})}


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ("path: .", "artifact-whole"),
        ("path: ., include-hidden-files: true", "artifact-secret"),
        ("path: '${{ github.workspace }}', include-hidden-files: true", "artifact-secret"),
        ("path: .git/config", "artifact-secret"),
        ("path: build/.env", "artifact-secret"),
    ],
)
def test_artifacts_that_hold_too_much_are_told(given: str, what: str) -> None:
    base = FLOW.format("path: out/report.xml")
    assert told(base, FLOW.format(given)) == {what}
    assert told(FLOW.format(given), FLOW.format(given)) == set()


@pytest.mark.parametrize(
    "given",
    ["path: dist/", "path: 'dist/**'", "path: .coverage, include-hidden-files: true", "path: out/env.txt"],
)
def test_ordinary_artifacts_are_not_told(given: str) -> None:
    assert told(FLOW.format("path: out/report.xml"), FLOW.format(given)) == set()


def test_pipelines_of_gitlab_keep_hidden_files() -> None:
    assert told(LAB.format("dist"), LAB.format("."), ".gitlab-ci.yml") == {"artifact-secret"}
    assert told(LAB.format("dist"), LAB.format("dist, docs"), ".gitlab-ci.yml") == set()
