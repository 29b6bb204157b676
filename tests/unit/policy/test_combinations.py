"""Findings that block together: in one file, every part, and never fewer for having more of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.errors import UsageError
from gate.model.location import Location
from gate.model.rule import Confidence
from gate.model.score import Verdict
from gate.model.stage import Stage, StageOutcome
from gate.policy.combinations import combined
from gate.policy.policy_file import load_policy, parse_policy
from gate.policy.score import COMBINED, score
from gate.policy.verdict import decide
from gate.resources import rules_dir
from tests.unit.policy.score_findings import finding

POLICY = load_policy()
READ = finding(rule="py.credential-read", topic="credential", severity="high", confidence="medium", line=3)
SENT = finding(rule="py.secret-sent", topic="credential", severity="high", confidence="low", line=9)
ELSEWHERE = finding(
    rule="py.secret-sent", topic="credential", severity="high", confidence="low", path="b.py", line=9
)
STAGES = (Stage(name="prescreen", outcome=StageOutcome.DONE),)


def test_two_parts_in_one_file_block_and_say_why() -> None:
    total = score([READ, SENT], POLICY)
    assert total.value == POLICY.bands.fail
    assert COMBINED in {one.rule_id for one in total.contributions}
    verdict, reasons = decide(
        score=total, findings=[READ, SENT], stages=STAGES, thresholds=POLICY.thresholds, no_sandbox=False
    )
    assert verdict is Verdict.FAIL
    told = next(reason for reason in reasons if reason.startswith("blocks together"))
    assert "py.credential-read with py.secret-sent in a.py" in told


def test_it_blocks_in_a_project_that_fails_later_too() -> None:
    loose = type(POLICY.thresholds)(warn=30, fail=100)
    verdict, _ = decide(
        score=score([READ, SENT], POLICY), findings=[READ, SENT], stages=STAGES, thresholds=loose
    )
    assert verdict is Verdict.FAIL


@pytest.mark.parametrize(
    "findings",
    [
        [READ],
        [SENT],
        [READ, ELSEWHERE],
        [READ, finding(rule="py.secret-sent", topic="credential", severity="medium", line=9)],
    ],
)
def test_one_part_another_file_or_too_mild_is_no_combination(findings: list[object]) -> None:
    assert combined(findings, POLICY) == ()  # type: ignore[arg-type]


def test_more_findings_never_undo_one() -> None:
    many = [finding(rule=f"r-{n}", topic=f"t{n}", severity="low", line=n) for n in range(1, 30)]
    assert combined([*many, READ, *many, SENT], POLICY) == combined([READ, SENT], POLICY)
    assert score([*many, READ, SENT], POLICY).value >= score([READ, SENT], POLICY).value


def test_two_different_protections_block_and_one_told_twice_does_not() -> None:
    gone = finding(rule="protection-removed", severity="medium", confidence="medium", line=3)
    gone = replace(gone, message="A check of authorisation that base had is gone.")
    again = replace(gone, locations=(Location(path="b.py", line=3),))
    other = replace(again, message="Far less than at base: how long a session lasts.")
    one = replace(gone, evidence={"protects": "authorisation"})
    same = replace(again, message="It refuses less than at base.", evidence={"protects": "authorisation"})
    assert combined([one, same], POLICY) == ()
    unsure = replace(other, confidence=Confidence.LOW)
    assert combined([gone, again], POLICY) == ()
    assert combined([gone, unsure], POLICY) == ()
    (held,) = combined([gone, again, other], POLICY)
    assert "several protections" in held.text
    assert score([gone, other], POLICY).value >= POLICY.bands.fail


def test_a_combination_of_one_finding_is_refused() -> None:
    text = (rules_dir() / "policy.toml").read_text()
    assert "different = 2" in text
    with pytest.raises(UsageError, match="two findings or more"):
        parse_policy(text.replace("different = 2", "different = 1"))


def test_a_rule_that_does_not_exist_is_refused() -> None:
    text = (
        (rules_dir() / "policy.toml").read_text().replace('"py.secret-sent", "sh-env', '"No Id", "sh-env', 1)
    )
    with pytest.raises(UsageError, match="No Id"):
        parse_policy(text)
