"""Lines that nothing reached, forced to run: real repositories, the real scanners, a real sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.forced_pulls import FORCED_HARMLESS, FORCED_HOSTILE
from tests.e2e.pulls import Pull
from tests.e2e.test_unrun_pulls import check, told

pytestmark = [pytest.mark.backend, pytest.mark.slow]


def of_rule(report: dict[str, Any], rule: str) -> list[dict[str, Any]]:
    return [f for f in report["findings"] if f["rule_id"] == rule]


@pytest.mark.parametrize("pull", FORCED_HOSTILE, ids=lambda pull: pull.name)
def test_what_a_guarded_line_would_do_is_told(pull: Pull, tmp_path: Path) -> None:
    report, _ = check(pull, tmp_path)
    assert {f["rule_id"] for f in report["findings"]} >= set(pull.rules), told(report)
    assert report["verdict"] in pull.verdicts, told(report)
    (finding,) = of_rule(report, "seen-when-forced")
    assert "connects to 203.0.113." in str(finding["evidence"]), told(report)
    assert any("connects to" in str(f["evidence"]) for f in of_rule(report, "unrun-sensitive")), told(report)


@pytest.mark.parametrize("pull", FORCED_HARMLESS, ids=lambda pull: pull.name)
def test_what_its_caller_decides_is_not_told(pull: Pull, tmp_path: Path) -> None:
    report, _ = check(pull, tmp_path)
    assert not of_rule(report, "seen-when-forced"), told(report)
    assert report["verdict"] in pull.verdicts, told(report)
