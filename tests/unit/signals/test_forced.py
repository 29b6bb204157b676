"""How findings of forced lines weigh."""

from __future__ import annotations

from typing import Any

import pytest

from gate.model.forced import ForcedAct, ForcedLine
from gate.model.rule import Confidence, Severity
from gate.signals.forced import forced_findings, weight


def act(
    topic: str = "network", severity: str = "high", text: str = "connects to 203.0.113.7:4444"
) -> ForcedAct:
    return ForcedAct(
        rule_id="new-outbound-connection",
        topic=topic,
        severity=Severity(severity),
        confidence=Confidence.HIGH,
        text=text,
    )


def line(*acts: ForcedAct, **more: Any) -> ForcedLine:
    return ForcedLine(path="a.py", line=41, acts=acts, **more)


PAIR = (act(text="connects to c2.example:4444"), act("credential", text="takes the planted secret x (read)"))


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        (line(act(severity="medium")), ("medium", "low")),
        (line(act()), ("high", "low")),
        (line(act(), act(text="connects to 203.0.113.8:1")), ("high", "low")),
        (line(act(), guard="digest"), ("high", "medium")),
        (line(act(severity="medium"), guard="digest"), ("medium", "low")),
        (line(*PAIR), ("high", "medium")),
        (line(*PAIR, guard="host"), ("critical", "medium")),
        (line(act(severity="critical"), guard="host"), ("critical", "medium")),
        (line(*PAIR, guard="host", in_tests=True), ("high", "low")),
        (line(act(), PAIR[1]), ("critical", "medium")),
        (line(act(), PAIR[1], in_tests=True), ("high", "low")),
    ],
)
def test_two_strong_facts_behind_a_guard_weigh_most(seen: ForcedLine, wanted: tuple[str, str]) -> None:
    severity, confidence = weight(seen)
    assert (severity.value, confidence.value) == wanted


def test_a_line_that_showed_nothing_has_no_finding() -> None:
    assert forced_findings([line(told="reached")]) == ()


def test_a_finding_names_the_condition_and_the_act_as_evidence_only() -> None:
    (found,) = forced_findings([line(act(), conditions=("sha256(code) == 'aa'",), guard="digest")])
    assert found.message == (
        "If line 41 runs, it reaches for another machine; it did not run by itself, and whether it does "
        "depends on a digest."
    )
    assert found.evidence["only when"] == "sha256(code) == 'aa'"
    assert found.evidence["when it runs, it"] == "connects to 203.0.113.7:4444"


def test_a_line_without_a_guard_says_only_what_it_does() -> None:
    (found,) = forced_findings([line(act())])
    assert found.message.endswith("it did not run by itself.")
