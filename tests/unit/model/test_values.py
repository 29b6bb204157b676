"""Values that cannot exist are refused where they are made."""

from __future__ import annotations

import pytest

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, Severity
from gate.model.score import Score


@pytest.mark.parametrize("value", [-1, 101])
def test_a_score_is_of_0_to_100(value: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        Score(value=value)


def test_lines_count_from_one_and_do_not_run_backwards() -> None:
    with pytest.raises(ValueError, match="1-based"):
        Location(path="a.py", line=0)
    with pytest.raises(ValueError, match="line"):
        Location(path="a.py", line=5, end_line=4)


def test_a_finding_is_somewhere() -> None:
    elsewhere = Location(path="a.py", line=1, kind="related")
    with pytest.raises(ValueError, match="no primary location"):
        Finding(
            rule_id="r",
            stage=FindingStage.PRESCREEN,
            severity=Severity.LOW,
            confidence=Confidence.LOW,
            message="m",
            locations=(elsewhere,),
            shape="s",
        )
