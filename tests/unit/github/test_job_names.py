"""Which workflow files could make a check of our name: what GitHub would call their jobs, read as data."""

from __future__ import annotations

import pytest

from gate.github.job_names import MOST_BYTES, may_report

MAY: dict[str, str | bytes] = {
    "its key": "jobs: {gate: {runs-on: x}}",
    "its name": "jobs: {a: {name: gate}}",
    "its name, in another way": 'jobs: {a: {name: "\\u0067ate"}}',
    "other letters": "jobs: {a: {name: GATE}}",
    "room around it": "jobs: {a: {name: ' gate '}}",
    "an expression": "jobs: {a: {name: '${{ inputs.x }}'}}",
    "a part of it": "jobs: {a: {name: 'g${{ matrix.x }}e'}}",
    "a merged name": "x: &x {name: gate}\njobs: {a: {<<: *x}}",
    "a name that is bytes": "jobs: {a: {name: !!binary Z2F0ZQ==}}",
    "a list for a name": "jobs: {a: {name: [gate]}}",
    "Jobs": "Jobs: {gate: {}}",
    "no YAML": "jobs: {{",
    "two documents": "a: 1\n---\njobs: {gate: {}}",
    "a tag that nobody knows": "jobs: !x {gate: {}}",
    "too long": "#" * (MOST_BYTES + 1),
    "UTF-16": "jobs: {gate: {}}".encode("utf-16"),
}
MAY_NOT = {
    "another": "jobs: {test: {name: Tests}}",
    "a matrix": "jobs: {gate-all: {strategy: {matrix: {x: [1]}}}}",
    "a part that does not fit": "jobs: {a: {name: 'Python ${{ matrix.x }}'}}",
    "nothing": "",
    "no jobs": "on: push",
    "a list": "[gate]",
    "a called workflow": "jobs: {ours: {uses: ./.github/workflows/gate.yml}}",
}


@pytest.mark.parametrize("why", MAY)
def test_it_may(why: str) -> None:
    text = MAY[why]
    assert may_report(text if isinstance(text, bytes) else text.encode(), "gate")


@pytest.mark.parametrize("why", MAY_NOT)
def test_it_may_not(why: str) -> None:
    assert not may_report(MAY_NOT[why].encode(), "gate")


@pytest.mark.parametrize("job", ["gate: {strategy: {matrix: {x: [api]}}}", "a: {name: gate, strategy: {}}"])
def test_a_matrix_reports_what_a_look_with_a_name_reports(job: str) -> None:
    """The check of the action's input `name: api` is `gate (api)`."""
    assert may_report(f"jobs: {{{job}}}".encode(), "gate (api)")
    assert not may_report(b"jobs: {gate: {runs-on: x}}", "gate (api)")
