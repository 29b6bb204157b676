"""Score, findings and stages to a verdict: what can be green, and what can not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.model.cut_short import NOT_RUN
from gate.model.report import SandboxReport
from gate.model.run import Completeness, Outcome, Probe, RunRecord
from gate.model.score import Score, Thresholds, Verdict
from gate.model.stage import SkipReason, Stage, StageOutcome
from gate.plan.coverage import unreached
from gate.policy.policy_file import load_policy, parse_policy
from gate.policy.score import score
from gate.policy.verdict import decide
from gate.resources import rules_dir
from tests.unit.policy.score_findings import finding

POLICY = load_policy()
DONE = Stage(name="prescreen", outcome=StageOutcome.DONE)
LOST = Completeness(dropped=3, unparsed=1, truncated=True)


def run(**changes: Any) -> RunRecord:
    record = RunRecord(
        probe=Probe(id="p1", phase="import", target="import shop", path="shop.py", argv=("python3",)),
        side="head",
        outcome=Outcome.COMPLETED,
        exit_code=0,
        seconds=0.1,
        peak_memory=None,
        completed=True,
        trace=None,
        completeness=Completeness(),
    )
    return replace(record, **changes)


def report(
    *runs: RunRecord, tracer: str | None = "unotify", lost: Completeness | None = None
) -> SandboxReport:
    return SandboxReport(backend="docker", tracer=tracer, runs=runs, completeness=lost or Completeness())


def judge(value: int = 0, **more: Any) -> tuple[Verdict, tuple[str, ...]]:
    given_: dict[str, Any] = {"stages": [DONE], "findings": [], "thresholds": POLICY.thresholds} | more
    return decide(score=Score(value=value), **given_)


def test_a_second_look_cut_short_is_no_hole_in_the_first() -> None:
    slow = run(outcome=Outcome.TIMED_OUT, completed=False)
    again = replace(slow, probe=replace(slow.probe, id="p1~ci", condition="as in CI"))
    assert judge(sandbox=report(run(), again))[0] is Verdict.PASS
    assert judge(sandbox=report(slow, again))[0] is Verdict.INCONCLUSIVE
    assert judge(sandbox=report(run(), replace(again, fault="lost")))[0] is Verdict.INCONCLUSIVE


def test_an_import_that_leaves_something_running_was_not_seen_to_its_end() -> None:
    left = run(driver_report={"items": [{"do": "import", "threads": 1}]})
    assert judge(sandbox=report(left))[0] is Verdict.INCONCLUSIVE
    assert judge(sandbox=report(left, replace(left, side="base")))[0] is Verdict.PASS
    again = replace(left, probe=replace(left.probe, id="p1~ci", condition="as in CI"))
    assert judge(sandbox=report(left, again, replace(left, side="base")))[0] is Verdict.PASS
    called = replace(left, probe=replace(left.probe, phase="call"))
    assert judge(sandbox=report(called))[0] is Verdict.PASS
    for hint in (
        {"items": [{"left_running": 1}]},
        {"items": "x"},
        {"items": [3]},
        {"items": [{"threads": 0}]},
    ):
        assert judge(sandbox=report(run(driver_report=hint)))[0] is Verdict.PASS


@pytest.mark.parametrize(
    ("value", "verdict", "words"),
    [
        (0, Verdict.PASS, "score 0 is below 30"),
        (29, Verdict.PASS, "score 29 is below 30"),
        (30, Verdict.WARN, "score 30 is 30 or more, below 70"),
        (69, Verdict.WARN, "score 69 is 30 or more, below 70"),
        (70, Verdict.FAIL, "score 70 is 70 or more"),
    ],
)
def test_bands(value: int, verdict: Verdict, words: str) -> None:
    assert judge(value, sandbox=report(run())) == (verdict, (words,))


def test_the_projects_own_bands() -> None:
    assert judge(45, thresholds=Thresholds(warn=10, fail=40))[0] is Verdict.FAIL


def test_a_hard_block_fails_at_any_score() -> None:
    for blocking in (
        finding(hard_block=True, rule="x"),
        finding("behaviour", "low", "low", rule="observation-tampering"),
    ):
        verdict, reasons = judge(1, findings=[blocking])
        assert verdict is Verdict.FAIL
        assert reasons == (f"{blocking.rule_id} blocks whatever the score",)


@pytest.mark.parametrize("outcome", [StageOutcome.DEGRADED, StageOutcome.FAILED])
def test_a_blind_stage_is_never_green(outcome: StageOutcome) -> None:
    blind = Stage(name="prescreen:semgrep", outcome=outcome, reason="timed out")
    assert judge(0, stages=[DONE, blind])[0] is Verdict.INCONCLUSIVE
    assert judge(50, stages=[DONE, blind])[0] is Verdict.INCONCLUSIVE
    verdict, reasons = judge(90, stages=[DONE, blind])
    assert verdict is Verdict.FAIL
    assert f"prescreen:semgrep {outcome.value}: timed out" in reasons


def test_a_skipped_stage_is_a_decision() -> None:
    why = SkipReason.NOTHING_TO_RUN
    skipped = Stage(name="sandbox", outcome=StageOutcome.SKIPPED, reason=why.text(), skip_reason=why)
    assert judge(0, stages=[DONE, skipped])[0] is Verdict.PASS


def test_the_words_of_a_stage_decide_nothing() -> None:
    words = SkipReason.NOTHING_TO_RUN.text()
    unknown = Stage(name="sandbox", outcome=StageOutcome.SKIPPED, reason=words)
    assert judge(0, stages=[DONE, unknown])[0] is Verdict.WARN
    off = replace(unknown, skip_reason=SkipReason.SWITCHED_OFF)
    assert judge(0, stages=[DONE, off])[0] is Verdict.WARN


def test_no_stage_at_all_is_an_empty_look() -> None:
    verdict, reasons = judge(0, stages=[])
    assert verdict is Verdict.INCONCLUSIVE
    assert "no stage reported that it looked" in reasons


@pytest.mark.parametrize(
    ("sandbox", "words"),
    [
        (report(run(fault="engine gone")), "import shop (head): engine gone"),
        (report(run(fault="engine gone", side="base")), "import shop (base): engine gone"),
        (report(run(completeness=LOST)), "3 events dropped, 1 unreadable, its end is missing"),
        (report(run(side="base", completeness=Completeness(dropped=1))), "import shop (base): the trace"),
        (report(run(), lost=Completeness(truncated=True)), "the trace is incomplete (its end is missing)"),
        (report(run(), lost=LOST), "the trace is incomplete (3 events dropped"),
        (report(run(outcome=Outcome.TIMED_OUT)), "import shop (head): ran out of time"),
        (report(run(outcome=Outcome.OUT_OF_MEMORY)), "ran out of memory"),
        (report(run(outcome=Outcome.KILLED)), "was ended by a signal"),
        (report(run(outcome=Outcome.NEVER_STARTED)), "was not started"),
        (report(run(completed=False)), "ended before the driver was through"),
        (report(run(), tracer=None), "nothing watched it"),
        (report(run(), tracer="none"), "nothing watched it"),
    ],
)
def test_what_was_not_seen_whole_is_inconclusive(sandbox: SandboxReport, words: str) -> None:
    verdict, reasons = judge(0, sandbox=sandbox)
    assert verdict is Verdict.INCONCLUSIVE
    assert any(words in reason for reason in reasons)
    assert judge(70, sandbox=sandbox)[0] is Verdict.FAIL


@pytest.mark.parametrize(
    "fine",
    [
        run(outcome=Outcome.EXITED_NONZERO, exit_code=1),
        run(probe=replace(run().probe, driver=False), completed=False),
        run(side="base", outcome=Outcome.TIMED_OUT, completed=False),
    ],
)
def test_what_is_a_whole_look(fine: RunRecord) -> None:
    assert judge(0, sandbox=report(fine))[0] is Verdict.PASS


@pytest.mark.parametrize("rule", ["early-exit", "process-killed", "resource-exhaustion", "timeout"])
@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.KILLED])
def test_an_end_that_is_told_as_a_finding_is_evidence_and_no_hole(rule: str, outcome: Outcome) -> None:
    cut = report(run(outcome=outcome, completed=False))
    told = finding("behaviour", "high", "medium", rule=rule)
    assert judge(49, sandbox=cut, findings=[told])[0] is Verdict.WARN
    mild = finding("behaviour", "medium", "medium", rule=rule)
    assert judge(15, sandbox=cut, findings=[mild])[0] is Verdict.INCONCLUSIVE
    other = finding("behaviour", "high", "medium", rule="http-request")
    assert judge(49, sandbox=cut, findings=[other])[0] is Verdict.INCONCLUSIVE


def test_an_end_that_main_has_too_is_no_hole() -> None:
    cut = run(outcome=Outcome.TIMED_OUT, completed=False)
    assert judge(sandbox=report(cut, replace(cut, side="base")))[0] is Verdict.PASS
    other = replace(cut, side="base", probe=replace(cut.probe, id="p2"))
    assert judge(sandbox=report(cut, other))[0] is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("phase", ["call", "test"])
def test_a_test_that_only_takes_long_is_not_run_and_no_hole(phase: Any) -> None:
    probe = replace(run().probe, phase=phase)
    for cut in (
        run(probe=probe, outcome=Outcome.TIMED_OUT, completed=False),
        run(probe=probe, outcome=Outcome.NEVER_STARTED, completed=False, stopped=NOT_RUN),
        run(
            probe=probe,
            outcome=Outcome.EXITED_NONZERO,
            exit_code=1,
            completed=False,
            driver_report={"items": [{"outcome": "threads-left"}]},
        ),
    ):
        assert judge(sandbox=report(cut))[0] is Verdict.PASS
        assert unreached([cut])[0].reason in (
            "ran out of time",
            NOT_RUN,
            "ended before the driver was through",
        )
    for cut in (
        run(probe=probe, outcome=Outcome.KILLED, completed=False),
        run(probe=probe, outcome=Outcome.TIMED_OUT, fault="engine gone"),
        run(probe=probe, outcome=Outcome.EXITED_NONZERO, exit_code=7, completed=False),
        run(
            probe=probe,
            outcome=Outcome.EXITED_NONZERO,
            exit_code=1,
            completed=False,
            driver_report={"items": [{"outcome": "threads-left"}, {"outcome": "ended"}]},
        ),
    ):
        assert judge(sandbox=report(cut))[0] is Verdict.INCONCLUSIVE


def test_a_hundred_cut_runs_are_told_shortly() -> None:
    cut = [run(fault=f"fault {n}") for n in range(100)]
    _, reasons = judge(0, sandbox=report(*cut))
    assert len(reasons) == 6
    assert reasons[-1] == "and 95 more that could not be looked at"


@pytest.mark.parametrize(("value", "verdict"), [(0, Verdict.WARN), (50, Verdict.WARN), (70, Verdict.FAIL)])
def test_without_the_sandbox_at_best_warn(value: int, verdict: Verdict) -> None:
    told, reasons = judge(value, no_sandbox=True, sandbox=report())
    assert told is verdict
    assert reasons[-1] == "the sandbox was switched off, nobody saw the code run: at best warn"


def test_the_sandbox_stage_can_say_it_too() -> None:
    off = Stage(name="sandbox", outcome=StageOutcome.SKIPPED, reason="switched off by --no-sandbox")
    assert judge(0, stages=[DONE, off])[0] is Verdict.WARN


FAST = Stage(
    name="sandbox:rest",
    outcome=StageOutcome.SKIPPED,
    reason="a fast look only imports; left to the full look: 2 call probes",
    skip_reason=SkipReason.FAST_LOOK,
)


@pytest.mark.parametrize(("value", "verdict"), [(0, Verdict.WARN), (50, Verdict.WARN), (70, Verdict.FAIL)])
def test_a_fast_look_that_left_something_is_at_best_warn(value: int, verdict: Verdict) -> None:
    told, reasons = judge(value, stages=[DONE, FAST], sandbox=report(run()))
    assert told is verdict
    assert reasons[-1] == f"{FAST.reason}: at best warn"


def test_a_fast_look_is_no_excuse_for_one_that_could_not_look() -> None:
    lost = Stage(name="sandbox", outcome=StageOutcome.FAILED, reason="no sandbox works here")
    assert judge(0, stages=[DONE, FAST, lost])[0] is Verdict.INCONCLUSIVE


def test_a_stricter_house_may_refuse_no_sandbox() -> None:
    text = (rules_dir() / "policy.toml").read_text().replace('best = "warn"', 'best = "inconclusive"')
    assert judge(0, no_sandbox=True, policy=parse_policy(text))[0] is Verdict.INCONCLUSIVE


@given(st.integers(0, 100), st.booleans(), st.sampled_from(Outcome), st.booleans())
def test_green_only_after_a_whole_look(value: int, completed: bool, outcome: Outcome, off: bool) -> None:
    record = run(outcome=outcome, completed=completed)
    verdict, reasons = judge(value, sandbox=report(record), no_sandbox=off)
    if verdict is Verdict.PASS:
        assert value < 30
        assert completed
        assert not off
        assert outcome in (Outcome.COMPLETED, Outcome.EXITED_NONZERO)
    assert reasons


def test_a_fault_that_the_stage_tells_is_not_told_again() -> None:
    lost = run(fault="the engine is gone", completed=False)
    stage = Stage(
        name="sandbox", outcome=StageOutcome.DEGRADED, reason="the engine is gone (import shop at head)"
    )
    verdict, reasons = judge(sandbox=report(lost, run()), stages=[DONE, stage])
    assert verdict is Verdict.INCONCLUSIVE
    assert sum("the engine is gone" in reason for reason in reasons) == 1


@pytest.mark.parametrize(
    ("severity", "verdict"),
    [("low", Verdict.PASS), ("medium", Verdict.WARN), ("high", Verdict.FAIL)],
)
@pytest.mark.parametrize(
    "rule", ["protection-removed", "infrastructure.guard-removed", "infrastructure.wider"]
)
def test_a_check_that_is_gone_warns_by_itself(rule: str, severity: str, verdict: Verdict) -> None:
    found = finding("prescreen", severity, "low", rule=rule)
    told, reasons = judge(5, findings=[found])
    assert told is verdict
    assert (f"{rule} (1 finding) means at least {verdict.value}" in reasons) is (verdict is not Verdict.PASS)


def test_a_milder_finding_of_the_same_rule_takes_no_least_verdict_away() -> None:
    """Found by reading: the last finding of a rule decided, so a mild one at the end made a report green."""
    grave = finding("prescreen", "medium", "low", rule="protection-removed", line=1)
    mild = finding("prescreen", "low", "low", rule="protection-removed", line=2)
    for order in ([grave, mild], [mild, grave]):
        told, reasons = judge(5, findings=order)
        assert told is Verdict.WARN
        assert "protection-removed (1 finding) means at least warn" in reasons


def test_a_rule_may_have_a_level_for_each_severity() -> None:
    levels = '[{ verdict = "warn", severity = "medium" }, { verdict = "fail", severity = "high" }]'
    head, _, tail = (rules_dir() / "policy.toml").read_text().partition("[least_verdict]\n")
    text = f"{head}[least_verdict]\nmade-up = {levels}\n{tail}"
    policy = parse_policy(text)
    for severity, verdict in (("low", Verdict.PASS), ("medium", Verdict.WARN), ("high", Verdict.FAIL)):
        found = [finding("prescreen", severity, "low", rule="made-up")]
        points = score(found, policy)
        told, _ = judge(points.value, findings=found, policy=policy)
        assert told is verdict
        assert (points.value >= policy.bands.fail) is (verdict is Verdict.FAIL)


def test_a_least_verdict_names_a_known_severity() -> None:
    text = (rules_dir() / "policy.toml").read_text()
    wrong = text.replace('severity = "medium" }', 'severity = "grave" }', 1)
    assert wrong != text
    with pytest.raises(UsageError, match="grave"):
        parse_policy(wrong)
