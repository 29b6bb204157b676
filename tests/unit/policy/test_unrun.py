"""Changed code that did not run: its findings, and the least verdict that they mean."""

from __future__ import annotations

from typing import Any

import pytest

from gate.errors import UsageError
from gate.model.exercised import Exercised, FileExercised, UnrunCall, UnrunLines, UnrunReason
from gate.model.forced import ForcedAct, ForcedLine
from gate.model.rule import Confidence, Severity
from gate.model.score import Score, Thresholds, Verdict
from gate.model.sensitive import SensitiveKind
from gate.model.stage import Stage, StageOutcome
from gate.policy.policy_file import load_policy, parse_policy
from gate.policy.score import score
from gate.policy.unrun import MOST, RULES, unrun_findings
from gate.policy.verdict import decide
from gate.resources import rules_dir
from tests.unit.policy.score_findings import finding

DONE = (Stage(name="sandbox", outcome=StageOutcome.DONE, reason="", seconds=1.0),)
BLIND = (Stage(name="sandbox", outcome=StageOutcome.FAILED, reason="no backend", seconds=1.0),)


def call(line: int = 3, kind: SensitiveKind = SensitiveKind.PROCESS, **more: Any) -> UnrunCall:
    words: dict[str, Any] = {"call": "os.system", "text": "os.system(x)", "reason": UnrunReason.NOT_REACHED}
    return UnrunCall(first=line, last=line, kind=kind, **{**words, **more})


def file(path: str = "a.py", *calls: UnrunCall, unreadable: str = "") -> FileExercised:
    lines = (UnrunLines(spans=((3, 3),), reason=UnrunReason.NOT_REACHED),)
    return FileExercised(
        path=path, language="python", executable=4, ran=3, unrun=lines, calls=calls, unreadable=unreadable
    )


def verdict_of(
    exercised: Exercised, unrun: Any = "warn", stages: Any = DONE
) -> tuple[Verdict, tuple[str, ...]]:
    found = unrun_findings(exercised)
    total = score(found, load_policy())
    return decide(score=total, findings=found, stages=stages, thresholds=Thresholds(unrun=unrun))


def test_lines_that_ran_and_lines_that_can_do_nothing_have_no_findings() -> None:
    inert = Exercised(files=(file("a.py"),))
    assert unrun_findings(inert) == ()
    assert verdict_of(inert)[0] is Verdict.PASS


def test_a_sensitive_line_is_one_finding_with_all_that_it_can_do_and_what_to_set() -> None:
    detail: dict[str, Any] = {"reason": UnrunReason.DEPENDENCY_MISSING, "detail": "numpy"}
    both = (call(3, **detail), call(3, SensitiveKind.NETWORK, call="get", **detail), call(9, **detail))
    first, second = unrun_findings(Exercised(files=(file("a.py", *both),)))
    assert first.rule_id == "unrun-sensitive"
    assert "Line 3 can" in first.message
    assert "start a process" in first.message
    assert "reach the network" in first.message
    assert first.evidence["why it did not run"] == "a dependency is missing: numpy"
    assert "sandbox.setup" in first.evidence["to have it run"]
    assert {first.primary.line, second.primary.line} == {3, 9}


def test_a_moved_line_keeps_its_shape() -> None:
    one, other = (unrun_findings(Exercised(files=(file("a.py", call(line)),)))[0].shape for line in (3, 300))
    assert one == other


def test_product_code_stands_before_tests_and_the_list_ends() -> None:
    tests = file("tests/a.py", *(call(n, in_tests=True) for n in range(1, MOST + 50)))
    found = unrun_findings(Exercised(files=(tests, file("z.py", call(7)))))
    assert len(found) == MOST
    assert found[0].primary.path == "z.py"


@pytest.mark.parametrize("exercised", [
    Exercised(files=(file("a.py", call()),)),
    Exercised(files=(file("a.min.js", unreadable="minified"),)),
], ids=["sensitive", "unreadable"])  # fmt: skip
@pytest.mark.parametrize(
    ("unrun", "verdict"), [("warn", Verdict.WARN), ("fail", Verdict.FAIL), ("pass", Verdict.PASS)]
)
def test_the_least_verdict_is_what_base_says(exercised: Exercised, unrun: str, verdict: Verdict) -> None:
    got, reasons = verdict_of(exercised, unrun)
    assert got is verdict
    named = [reason for reason in reasons if reason.startswith("unrun-")]
    assert bool(named) is (verdict is not Verdict.PASS)
    if named:
        assert named[0].endswith(f"(1 finding) means at least {verdict.value}")
        assert reasons[0] == named[0]


def test_it_never_makes_a_verdict_better() -> None:
    exercised = Exercised(files=(file("a.py", call()),))
    assert verdict_of(exercised, "warn", BLIND)[0] is Verdict.INCONCLUSIVE
    assert verdict_of(exercised, "fail", BLIND)[0] is Verdict.FAIL
    found = unrun_findings(exercised)
    high = decide(score=Score(value=80), findings=found, stages=DONE, thresholds=Thresholds())
    assert high[0] is Verdict.FAIL
    assert not any(reason.startswith("unrun-") for reason in high[1])


def test_points_are_not_what_warns() -> None:
    every = Exercised(files=tuple(file(f"{n}.py", call()) for n in range(60)))
    assert score(unrun_findings(every), load_policy()).value < 30


def test_the_rules_and_verdicts_of_the_policy_file_are_checked() -> None:
    text = (rules_dir() / "policy.toml").read_text()
    assert {meta.id for meta, _ in RULES} <= load_policy().least_verdict.keys()
    line = 'unrun-sensitive = "policy.unrun"'
    assert line in text
    for wrong in ('unrun-sensitive = "pass"', '"No Rule" = "warn"'):
        with pytest.raises(UsageError, match="policy"):
            parse_policy(text.replace(line, wrong))
    fixed = parse_policy(text.replace(line, 'unrun-sensitive = "fail"'))
    found = unrun_findings(Exercised(files=(file("a.py", call()),)))
    told = decide(score=Score(value=5), findings=found, stages=DONE, thresholds=Thresholds(), policy=fixed)
    assert told[0] is Verdict.FAIL


def test_the_figure() -> None:
    none = Exercised()
    assert (none.ran, none.executable, none.percent, none.unreadable) == (0, 0, None, 0)
    some = Exercised(files=(file("a.py"), file("b.py", unreadable="binary")))
    assert (some.ran, some.executable, some.percent, some.unreadable) == (6, 8, 75, 1)
    assert some.languages == {"python": (6, 8)}
    assert some.reasons() == ((UnrunReason.NOT_REACHED, "", 2),)
    almost = FileExercised(path="c.py", language="python", executable=1000, ran=999)
    assert Exercised(files=(almost,)).percent == 99
    whole = FileExercised(path="c.py", language="python", executable=48, ran=48)
    assert Exercised(files=(whole,)).percent == 100
    assert Exercised(files=(FileExercised(path="d", language="go", executable=48, ran=42),)).percent == 88
    with pytest.raises(ValueError, match="cannot have run"):
        FileExercised(path="d", language="go", executable=1, ran=2)


@pytest.mark.parametrize("reason", list(UnrunReason))
def test_every_reason_has_words_and_advice(reason: UnrunReason) -> None:
    assert reason.text
    assert reason.advice.endswith(".")


def test_what_forcing_showed_is_named_beside_and_changes_nothing_else() -> None:
    act = ForcedAct(
        rule_id="x", topic="network", severity=Severity.HIGH, confidence=Confidence.HIGH, text="connects to y"
    )
    lines = [
        ForcedLine(path="a.py", line=3, told="reached", conditions=("x == 9",), acts=(act,)),
        ForcedLine(path="a.py", line=9, told="reached"),
    ]
    exercised = Exercised(files=(file("a.py", call(3), call(9), call(12)),))
    plain, told = unrun_findings(exercised), unrun_findings(exercised, lines)
    assert [f.severity for f in plain] == [f.severity for f in told]
    assert [f.shape for f in plain] == [f.shape for f in told]
    assert told[0].evidence["when forced, it"] == "connects to y"
    assert told[0].evidence["only when"] == "x == 9"
    assert told[1].evidence["when forced, it"] == "reached; nothing was seen that comes from the code"
    assert "when forced, it" not in told[2].evidence


def test_what_was_only_seen_when_forced_never_blocks_alone_but_two_strong_facts_behind_a_guard_do() -> None:
    def of(severity: str, count: int) -> int:
        found = [
            finding("behaviour", severity, "medium", rule="seen-when-forced", topic="forced", line=n + 1)
            for n in range(count)
        ]
        unrun = unrun_findings(Exercised(files=(file("a.py", *(call(n) for n in range(1, 9))),)))
        guards = [finding("prescreen", "medium", "medium", topic="guard", line=n + 1) for n in range(9)]
        return score([*found, *unrun, *guards], load_policy()).value

    assert of("high", 1) <= of("high", 9) < load_policy().thresholds.fail
    assert of("critical", 1) >= load_policy().thresholds.fail
