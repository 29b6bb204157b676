"""The outputs themselves, kept to be read. GATE_UPDATE_GOLDEN=1 writes them anew; look at the difference."""

from __future__ import annotations

import os

import pytest

from gate.model.report import Report
from gate.report.registry import REPORTERS
from tests.golden import sample
from tests.paths import TESTS

HERE = TESTS / "golden"
ENDINGS = {
    "terminal": "txt",
    "json": "json",
    "markdown": "md",
    "sarif": "sarif",
    "html": "html",
    "codequality": "codequality.json",
    "sast": "sast.json",
    "junit": "junit.xml",
}
CASES = {"hostile": sample.hostile(), "harmless": sample.harmless(), "blind": sample.blind()}


def test_every_reporter_has_its_golden_output() -> None:
    assert set(REPORTERS) == set(ENDINGS)
    assert all(REPORTERS[name].name == name for name in REPORTERS)


@pytest.mark.parametrize("case", sorted(CASES))
@pytest.mark.parametrize("name", sorted(ENDINGS))
def test_output_is_what_it_was(name: str, case: str) -> None:
    report: Report = CASES[case]
    path = HERE / "outputs" / f"{case}.{ENDINGS[name]}"
    text = REPORTERS[name].render(report)
    if os.environ.get("GATE_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
