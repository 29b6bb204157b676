"""Artifacts that hold a job's token, and inputs like it, with harmless twins."""

from __future__ import annotations

import pytest

from gate.supply.workflows.change import compare, pack

FORM = """on: [pull_request]
permissions: {contents: read}
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v4
        with: {persist-credentials: %s}
      - uses: actions/upload-artifact@v4
        with: {name: reports, %s}
"""


@pytest.mark.parametrize(
    ("was", "now", "level"),
    [
        (("false", "path: reports"), ("false", "path: ., include-hidden-files: true"), "high"),
        (("false", "path: reports"), ("false", "path: .git/config"), "high"),
        (
            ("false", "path: reports"),
            ("false", "path: '${{ github.workspace }}', include-hidden-files: true"),
            "high",
        ),
        (("false", "path: reports"), ("false", 'path: ".\\n!.git/**", include-hidden-files: true'), "low"),
        (("false", "path: reports"), ("false", "path: coverage, include-hidden-files: true"), "low"),
        (("false", "path: reports"), ("false", "path: ."), "low"),
        (("false", "path: reports"), ("true", "path: reports"), "medium"),
        (("true", "path: reports"), ("false", "path: reports"), "low"),
    ],
)
def test_what_is_handed_out(was: tuple[str, str], now: tuple[str, str], level: str) -> None:
    frame = pack((FORM % was).encode(), (FORM % now).encode())
    assert compare(".github/workflows/ci.yml", frame, {})[0].level == level
