"""Vulnerable changes are proven, their secure twins never: real repositories, real frameworks, real
sandboxes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vulnerable import running

pytestmark = [pytest.mark.backend, pytest.mark.slow, pytest.mark.sandboxed]
ALSO = {"template-render-template-string": {"html"}}
"""Weaknesses that a case has besides the one that it is for."""


@pytest.fixture(scope="session")
def installed() -> Iterator[Path]:
    if running.why_not():
        pytest.skip(running.why_not())
    with running.frameworks() as tar:
        yield tar


def _some() -> list[running.Case]:
    """The first hole and the first secure twin of each file that can be loaded here; all of them with
    GATE_PAIRS=all, as in ``make bench-vulnerable``.
    """
    every = running.cases()
    if os.environ.get("GATE_PAIRS") == "all":
        return list(every)
    first = {(case.file, case.right): case for case in reversed(every) if running.can_load(case)}
    return [case for case in every if case in first.values()]


@pytest.mark.spread
@pytest.mark.parametrize("case", _some(), ids=lambda case: case.id)
def test_a_hole_is_proven_and_nothing_else(case: running.Case, installed: Path, tmp_path: Path) -> None:
    result = running.run(case, tmp_path, installed, seconds=240)  # by the clock: others run beside it
    told = (result.targets, result.attacks)
    assert not result.attacks.problems, told
    wanted = {case.weakness} if case.right == "proven" else set()
    assert result.new - ALSO.get(case.id, set()) == wanted, told
    if case.right == "proven":
        assert result.verdict == "proven", told
    if case.right == "before":
        assert case.weakness in result.old, told


def test_every_weakness_has_two_holes_and_two_secure_twins() -> None:
    every = running.cases()
    for weakness in {case.weakness for case in every}:
        rights = [case.right for case in every if case.weakness == weakness]
        assert rights.count("proven") >= 2, weakness
        assert rights.count("secure") >= 2, weakness
