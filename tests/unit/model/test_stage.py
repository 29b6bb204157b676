"""Why a stage was skipped: a value that decisions read, with words for people."""

from __future__ import annotations

from typing import get_args

import pytest

from gate.model.stage import SkipReason, Stage, StageOutcome
from gate.report import v1


def test_details_of_a_reason_are_text_and_no_template() -> None:
    text = SkipReason.BACKEND_FAILED.text("docker", "{0} {} {x}")
    assert text == "docker did not stand: {0} {} {x}"


@pytest.mark.parametrize("why", SkipReason)
def test_every_reason_has_words(why: SkipReason) -> None:
    words = why.text("this", "that")
    assert words
    assert "{" not in words


@pytest.mark.parametrize("outcome", [o for o in StageOutcome if o is not StageOutcome.SKIPPED])
def test_what_was_not_skipped_has_no_reason_to_be(outcome: StageOutcome) -> None:
    with pytest.raises(ValueError, match="reason to be skipped"):
        Stage(name="sandbox", outcome=outcome, reason="x", skip_reason=SkipReason.NOTHING_TO_RUN)


def test_report_json_knows_every_reason() -> None:
    assert set(get_args(v1.Skip)) == {why.value for why in SkipReason}
