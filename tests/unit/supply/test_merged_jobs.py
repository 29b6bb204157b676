"""Jobs of a workflow that are gone while another one runs what they ran, by a target of the project."""

from __future__ import annotations

import pytest

from gate.supply.workflows.change import compare, pack

HEAD = "on: [pull_request]\npermissions: {contents: read}\njobs:\n"
JOB = "  %s:\n    runs-on: ubuntu-24.04\n    steps:\n      - uses: actions/checkout@v4\n"
BASE = f"{HEAD}{JOB % 'lint'}      - run: ruff check .\n{JOB % 'test'}      - run: pytest -q\n"
MAKE = "lint:\n\truff check .\n\ntest:\n\t%spytest -q\n\ncheck: lint test\n"


@pytest.mark.parametrize(
    ("make", "step", "is_high"),
    [
        (MAKE % "", "      - run: make check\n", False),
        (MAKE % "@", "      - run: make check\n", False),
        (MAKE % "-", "      - run: make check\n", True),
        (MAKE % "", "      - run: make lint\n", True),
        (MAKE % "", "      - run: make check\n        continue-on-error: true\n", True),
        (MAKE % "", "      - run: make check\n        if: github.actor == 'ada'\n", True),
        (MAKE % "", "      - run: make check || true\n", True),
        ("check:\n\techo done\n", "      - run: make check\n", True),
    ],
)
def test_jobs_in_one(make: str, step: str, is_high: bool) -> None:
    tasks = {"Makefile": make.encode()}
    frame = pack(BASE.encode(), f"{HEAD}{JOB % 'check'}{step}".encode(), (tasks, tasks))
    parts = compare(".github/workflows/ci.yml", frame, {})
    assert any(one.level == "high" for one in parts) is is_high
