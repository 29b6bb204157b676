"""More than 120 single behaviours, each made in real sandboxes of every kind: seen, or denied and seen."""

from __future__ import annotations

import functools
import os
import re
import tempfile
from pathlib import Path

import pytest

from tests.behaviours import table
from tests.behaviours.cases import Case, cases
from tests.behaviours.running import Did, run
from tests.contract.capabilities import capability

CASES = cases()
BACKEND_NAMES = ("bubblewrap", "bubblewrap-strace", "docker", "gvisor", "microvm")


@functools.cache
def _done(backend: str) -> dict[str, Did]:
    with tempfile.TemporaryDirectory(prefix="gate-behaviours-") as folder:
        ends = table.ENDS.get(backend, {})
        chosen = [case for case in CASES if case.id not in ends and not _left_out(backend, case)]
        slower = 8.0 if backend == "microvm" and capability(backend).reserve else 1.0
        return run(chosen, backend, Path(folder), patience=slower)


def _left_out(backend: str, case: Case) -> bool:
    """``GATE_TEST_SAMPLE=5``: behind a slow backend only every fifth, over all kinds (they come sorted)."""
    step = int(os.environ.get("GATE_TEST_SAMPLE", "1")) if capability(backend).reserve else 1
    return CASES.index(case) % step != 0


@pytest.fixture(
    scope="module",
    params=[
        w if w.startswith("bubblewrap") else pytest.param(w, marks=pytest.mark.engine) for w in BACKEND_NAMES
    ],
)
def backend(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    found = capability(name)
    if not found.available:
        pytest.skip(f"{name}: {found.reason}")
    if found.reserve and not os.environ.get("GATE_TEST_SLOW_BACKENDS"):
        pytest.skip(f"{name}: {found.reserve}; GATE_TEST_SLOW_BACKENDS=1 runs it")
    return name


@pytest.mark.timeout(5400)  # the first one makes them all; behind the slowest backend in half an hour
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_seen(backend: str, case: Case) -> None:
    if case.id in table.ENDS.get(backend, {}):
        pytest.skip(table.ENDS[backend][case.id])
    if _left_out(backend, case):
        pytest.skip("not in the sample")
    why = table.BLIND.get(backend, {}).get(case.id)
    did = _done(backend)[case.id]
    assert not did.wrong, did.wrong
    subjects = [b.subject for b in did.behaviours if b.kind is case.kind]
    if why:
        told = any(re.search(case.pattern, s) for s in subjects)
        assert not (told and case.rule in {f.rule_id for f in did.findings}), "seen after all: off the list"
        return
    everything = [(b.kind.value, b.subject, b.denied) for b in did.behaviours]
    assert any(re.search(case.pattern, subject) for subject in subjects), everything
    assert case.rule in {finding.rule_id for finding in did.findings}, everything


def test_there_are_enough_and_each_is_named_once() -> None:
    assert len(CASES) >= 120
    assert len({case.id for case in CASES}) == len(CASES)


def test_what_a_backend_does_not_show_is_a_case_and_rare() -> None:
    for blind in table.BLIND.values():
        assert blind.keys() <= {case.id for case in CASES}
        assert len(blind) < len(CASES) / 10


def test_the_table_in_the_docs_is_current() -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.page(CASES), "run python -m tests.behaviours.table"
