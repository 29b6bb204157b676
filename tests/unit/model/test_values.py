"""Values that cannot exist are refused where they are made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.model.change import ChangedFile, Hunk
from gate.model.cut_short import cut_short
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, Severity
from gate.model.run import Completeness, Outcome, Phase
from gate.model.score import Score
from gate.model.stage import Stage, StageOutcome
from tests.unit.signals.context import run


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


def _changed(*hunks: Hunk) -> ChangedFile:
    return ChangedFile(
        path="a.py", old_path=None, status="modified", language="python", hunks=hunks, old_mode="100644",
        new_mode="100644", old_blob="a", new_blob="b", binary=False, size=9,
    )  # fmt: skip


def test_lines_of_both_sides_are_touched() -> None:
    file = _changed(
        Hunk(old_start=3, old_count=2, new_start=3, new_count=0),
        Hunk(old_start=9, old_count=0, new_start=7, new_count=1),
    )
    assert file.touched(4, 4)
    assert not file.touched(5, 12)
    assert file.touches(7)
    assert not file.touches(2, 5)


def test_what_was_lost_adds_up() -> None:
    lost = Completeness(dropped=1) + Completeness(unparsed=2) + Completeness(truncated=True)
    assert lost == Completeness(dropped=1, unparsed=2, truncated=True)
    assert not lost.whole
    assert (Completeness() + Completeness()).whole


@pytest.mark.parametrize(
    ("phase", "more", "why"),
    [
        ("test", {"outcome": Outcome.TIMED_OUT}, "did not end in time"),
        ("test", {"outcome": Outcome.TIMED_OUT, "fault": "the observer died"}, ""),
        ("idle", {"outcome": Outcome.TIMED_OUT}, ""),
        (
            "test",
            {"outcome": Outcome.NEVER_STARTED, "stopped": "a sandbox was refused"},
            "a sandbox was refused",
        ),
        ("test", {"completed": False}, "ended before the driver was through"),
        ("test", {}, ""),
    ],
)
def test_why_a_run_is_cut_short(phase: Phase, more: dict[str, object], why: str) -> None:
    said = cut_short(replace(run(phase), **more))  # type: ignore[arg-type]
    assert said == why if why != "did not end in time" else bool(said)


def test_a_stage_that_did_not_end_well_says_why() -> None:
    with pytest.raises(ValueError, match="without a reason"):
        Stage(name="sandbox", outcome=StageOutcome.FAILED)
