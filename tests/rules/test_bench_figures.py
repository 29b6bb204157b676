"""The figures of both benches, on the same labelled sets: more than two points below them fails.

What a figure was when it was last looked at stands in RECORDED; raise it when it rises. The sets are read in
place, and skipped where they are not there; the code in them is looked at as text, never run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import attribution, prescreen
from tests.paths import REPOSITORY

DATA = REPOSITORY.parent / "shared" / "data"
POINTS = 2.0
RECORDED = {
    "sallm found": 90.0,
    "cweval found": 84.4,
    "cweval flagged": 3.9,
    "attribution precision": 100.0,
    "attribution recall": 99.7,
}
"""Percent. ``found``: the labelled weakness at medium or above; ``flagged``: secure samples."""


def _file(*names: str) -> Path:
    path = DATA.joinpath(*names)
    if not path.is_file():
        pytest.skip(f"{path.name} is not on this machine")
    return path


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole


@pytest.fixture(scope="module", params=["sallm", "cweval"])
def figures(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    samples = prescreen.load(_file("insecure", f"{request.param}.jsonl"))
    told, _ = prescreen.ours(samples)
    return str(request.param), prescreen.judged(samples, told)


@pytest.mark.timeout(300)
def test_the_static_look_finds_what_it_found(figures: tuple[str, dict[str, Any]]) -> None:
    name, result = figures
    found = _percent(result["labelled_cwe_at_medium"], result["insecure"])
    assert found >= RECORDED[f"{name} found"] - POINTS, result["missed"]


def test_the_static_look_flags_no_more_secure_code_than_it_did(figures: tuple[str, dict[str, Any]]) -> None:
    name, result = figures
    if not result["secure"]:
        pytest.skip(f"{name} has no secure samples")
    flagged = _percent(result["secure_flagged_at_medium"], result["secure"])
    assert flagged <= RECORDED[f"{name} flagged"] + POINTS, result["false_alarms"]


@pytest.mark.timeout(120)
def test_attribution_is_as_right_as_it_was() -> None:
    result = attribution.measure(attribution.rows(_file("attribution", "dev.jsonl")))
    ours = result["ours"]
    assert 100 * ours["precision"] >= RECORDED["attribution precision"] - POINTS, result["wrong"]
    assert 100 * ours["recall"] >= RECORDED["attribution recall"] - POINTS, result["wrong"]
    assert result["hard_negatives"]["ours_false"] == 0
    assert min(result["recall_per_tool"].values()) >= 0.95, result["recall_per_tool"]
