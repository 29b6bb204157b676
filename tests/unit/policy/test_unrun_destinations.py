"""New addresses weigh more in lines that did not run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.model.exercised import Exercised, FileExercised, UnrunLines, UnrunReason
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.model.score import Score, Thresholds, Verdict
from gate.model.stage import Stage, StageOutcome
from gate.policy.unrun_destinations import weighed
from gate.policy.verdict import decide
from gate.prescreen.scanners.new_destinations import NEW


def new(path: str, first: int, last: int, severity: Severity = Severity.LOW) -> Finding:
    place = Location(path=path, line=first, end_line=last)
    return Finding.of(NEW, "", place, shape="observe.example", severity=severity, evidence={"owner": "a"})


def ran(path: str, *spans: tuple[int, int], reason: UnrunReason = UnrunReason.NOT_REACHED) -> Exercised:
    unrun = (UnrunLines(spans=spans, reason=reason),) if spans else ()
    return Exercised(files=(FileExercised(path=path, language="a", executable=9, ran=5, unrun=unrun),))


@pytest.mark.parametrize(
    ("finding", "exercised", "wanted"),
    [
        (new("a.py", 4, 4), ran("a.py", (3, 5)), Severity.MEDIUM),
        (new("a.py", 4, 6), ran("a.py", (4, 4)), Severity.MEDIUM),
        (new("a.py", 6, 6), ran("a.py", (3, 5)), Severity.LOW),
        (new("a.py", 6, 6), ran("a.py"), Severity.LOW),
        (new("a.go", 9, 9), ran("a.go", (3, 5), reason=UnrunReason.LANGUAGE_NOT_RUN), Severity.MEDIUM),
        (new("a.go", 9, 9), Exercised(), Severity.MEDIUM),
        (replace(new("a.yml", 9, 9), evidence={"joins": "many"}), Exercised(), Severity.LOW),
        (new("a.py", 9, 9), Exercised(), Severity.LOW),
        (new("a.go", 9, 9), None, Severity.LOW),
    ],
)
def test_lines_that_did_not_run_are_medium(
    finding: Finding, exercised: Exercised | None, wanted: Severity
) -> None:
    (found,) = weighed([finding], exercised)
    assert found.severity is wanted
    assert ("why no run shows it" in found.evidence) is (wanted is Severity.MEDIUM)


def test_other_findings_stay() -> None:
    other = replace(new("a.py", 4, 4), rule_id="destination.changed")
    high = new("a.py", 4, 4, Severity.MEDIUM)
    assert weighed([other, high], ran("a.py", (3, 5))) == (other, high)


@pytest.mark.parametrize(
    ("severity", "verdict"), [(Severity.MEDIUM, Verdict.WARN), (Severity.LOW, Verdict.PASS)]
)
def test_from_medium_on_it_warns_at_least(severity: Severity, verdict: Verdict) -> None:
    done = (Stage(name="prescreen", outcome=StageOutcome.DONE),)
    found = (new("a.json", 1, 1, severity),)
    assert decide(score=Score(value=10), findings=found, stages=done, thresholds=Thresholds())[0] is verdict
