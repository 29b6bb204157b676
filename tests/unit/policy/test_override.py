"""Overrides: only what was asked for, only as long as it lasts, never a green from nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.errors import UsageError
from gate.model.doubt import Doubt
from gate.model.override import Override
from gate.model.report import Report
from gate.model.rule import Severity
from gate.model.score import Verdict
from gate.policy.override import EVIDENCE, apply, before_overrides, is_command, parse_command, parse_file
from gate.report.summary import next_step, verdict_words
from tests.golden import sample

NOW = 1_800_000_000.0
DAY = 86_400
WHY = "Reviewed with the platform team, see the ticket."
FP = "ab" * 16


SHA = "9d41e07ac2b8f3561f0e9d8c7b6a5948372615fe"


def _soft() -> Report:
    """The hostile sample, blocked by its score alone, everything looked at."""
    report = sample.hostile()
    findings = tuple(replace(f, hard_block=False) for f in report.findings)
    stages = tuple(s for s in report.stages if s.looked)
    runs = tuple(r for r in report.sandbox.runs if r.outcome.value in ("completed", "exited-nonzero"))
    box = replace(report.sandbox, runs=runs)
    return replace(report, findings=findings, stages=stages, sandbox=box, verdict=Verdict.FAIL)


def _ask(what: str = "all", **more: object) -> Override:
    return Override(what=what, reason=WHY, by="wren", source="comment", **more)  # type: ignore[arg-type]


def test_all_lets_a_blocked_change_through_with_a_warning() -> None:
    report = _soft()
    after = apply(report, [_ask()], now=NOW)
    assert after.verdict is Verdict.WARN
    assert after.findings == report.findings
    assert after.score == report.score
    assert "overridden; without that: fail" in after.reasons[0]
    assert set(after.overrides[0].covers) == {f.fingerprint for f in report.findings}


def test_what_an_override_lets_through_is_said_first() -> None:
    after = apply(_soft(), [_ask()], now=NOW)
    assert verdict_words(after)[0] == "Let through by an override"
    assert next_step(after) == "Nothing has to be done: what was found is overridden (see Overrides)."
    assert all(reason.startswith("of what is not overridden, ") for reason in after.reasons[1:])
    assert verdict_words(apply(_soft(), [], now=NOW))[0] == "Blocked"


def test_an_override_of_a_part_does_not_speak_for_the_rest() -> None:
    """A warning of which one finding is answered for is still one to look at."""
    report = _soft()
    first, *rest = report.findings
    small = tuple(replace(f, severity=Severity.LOW) for f in rest)
    for findings, words in (
        ((first, *small), "Let through by an override"),
        (report.findings, "Look before you merge"),
    ):
        warned = replace(report, findings=findings, verdict=Verdict.WARN)
        assert verdict_words(apply(warned, [_ask(first.fingerprint)], now=NOW))[0] == words


def test_entries_of_the_file_for_other_changes_are_not_shown() -> None:
    shared = replace(_ask(FP), source="overrides.toml")
    assert apply(_soft(), [shared], now=NOW).overrides == ()
    assert len(apply(_soft(), [replace(shared, until=int(NOW) - 1)], now=NOW).overrides) == 1
    assert len(apply(_soft(), [_ask(FP)], now=NOW).overrides) == 1, "a person asked for it here"


def test_one_fingerprint_covers_one_finding_and_the_rest_still_blocks() -> None:
    report = _soft()
    last = report.findings[-1].fingerprint
    after = apply(report, [_ask(last)], now=NOW)
    assert after.verdict is Verdict.FAIL
    assert after.overrides[0].accepted
    assert after.overrides[0].covers == (last,)


def test_hard_blocks_stand_unless_base_says_otherwise() -> None:
    report = replace(sample.hostile(), stages=(), verdict=Verdict.FAIL)
    hard = [f.fingerprint for f in report.findings if f.hard_block]
    assert hard
    assert apply(report, [_ask()], now=NOW).verdict is Verdict.FAIL
    refused = apply(report, [_ask(hard[0])], now=NOW).overrides[0]
    assert not refused.accepted
    assert "blocks whatever the score" in refused.refused
    assert apply(report, [_ask(hard[0])], now=NOW, hard_blocks=True).overrides[0].accepted


def test_never_better_than_it_was_and_never_green() -> None:
    harmless = sample.harmless()
    assert apply(harmless, [_ask()], now=NOW).verdict is harmless.verdict
    blind = sample.blind()
    assert blind.verdict is Verdict.INCONCLUSIVE
    assert apply(blind, [_ask()], now=NOW).verdict is Verdict.WARN
    assert apply(blind, [], now=NOW).verdict is Verdict.INCONCLUSIVE
    for finding in blind.findings:
        assert apply(blind, [_ask(finding.fingerprint)], now=NOW).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"until": int(NOW) - 1}, "expired"),
        ({"until": int(NOW) + 367 * DAY}, "longer than"),
        ({"what": FP}, "no finding"),
    ],
)
def test_refusals_are_told(more: dict[str, object], why: str) -> None:
    report = _soft()
    after = apply(report, [replace(_ask(), **more)], now=NOW)  # type: ignore[arg-type]
    assert after.verdict is Verdict.FAIL
    assert not after.overrides[0].accepted
    assert why in after.overrides[0].refused
    assert after.overrides[0].covers == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"/gate override {FP} sha:9d41e07ac2b8f reason:{WHY}\n", (FP, "9d41e07ac2b8f", WHY)),
        (f"/gate vouch sha: {SHA} reason: {WHY}", (EVIDENCE, SHA, WHY)),
        (f"/gate override all sha: 9d41e07ac2b8 reason: {WHY}", ("all", "9d41e07ac2b8", WHY)),
    ],
)
def test_commands(text: str, told: tuple[str, str, str]) -> None:
    assert is_command(text)
    assert parse_command(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "/gate override all sha: 9d41e07ac2b8",
        "/gate override all sha: 9d41e07ac2b8 reason:",
        "/gate override all sha: 9d41e07ac2b8 reason: ok",
        "/gate override all sha: 9d41e07ac2b8 reason: aaaaaaaaaaaaaaaaaaaaaaaaa",
        "/gate override all sha: 9d41e07ac2b8 reason: ............................",
        f"/gate override ab12 sha: 9d41e07ac2b8 reason: {WHY}",
        f"/gate override {FP.upper()} sha: 9d41e07ac2b8 reason: {WHY}",
        f"/gate override everything sha: 9d41e07ac2b8 reason: {WHY}",
        f"/gate override all sha: 9d41e07ac2b8\nreason: {WHY}",
        f"/gate override all sha: 9d41e07ac2b8 reason: {WHY}\nand more",
        f"<!-- /gate override all sha: 9d41e07ac2b8 reason: {WHY} -->",
        f"> /gate override all sha: 9d41e07ac2b8 reason: {WHY}",
        f"Please: /gate override all sha: 9d41e07ac2b8 reason: {WHY}",
        f"/gate override all sha: 9d41e07ac2b8 reason: {WHY}\n<!-- -->",
        f"/gate\u00a0override all sha: 9d41e07ac2b8 reason: {WHY}",
        f"/gate override \u0430ll sha: 9d41e07ac2b8 reason: {WHY}",
        f"/gate override all reason: {WHY}",
        f"/gate override all sha: 9d41e07 reason: {WHY}",
        f" /gate override all sha: 9d41e07ac2b8 reason: {WHY}",
        f"/gate vouch sha: 9d41e07ac2b8 reason: {WHY}",
        f"/gate vouch reason: {WHY}",
        f"/gate vouch all sha: {SHA} reason: {WHY}",
    ],
)
def test_everything_else_is_no_command(text: str) -> None:
    with pytest.raises(UsageError):
        parse_command(text)


FILE = f"""
[[override]]
fingerprint = "{FP}"
reason = "{WHY}"
owner = "@octo/security"
expires = 2027-01-31
"""


def test_the_file_at_base() -> None:
    (one,) = parse_file(FILE.encode())
    assert (one.what, one.by, one.source) == (FP, "@octo/security", "overrides.toml")
    assert one.until == 1_801_439_999
    assert parse_file(b"") == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (FP, "all"),
        (FP, "ab"),
        (WHY, "because"),
        ('owner = "@octo/security"', ""),
        ('owner = "@octo/security"', 'owner = ""'),
        ("expires = 2027-01-31", ""),
        ("expires = 2027-01-31", 'expires = "never"'),
        ("[[override]]", "[[overrides]]"),
        ("owner", "author"),
        ("[[override]]", "[[override"),
        (WHY, "\udcff" * 20),
    ],
)
def test_a_file_that_is_not_right_is_refused(old: str, new: str) -> None:
    with pytest.raises(UsageError, match=r"overrides\.toml"):
        parse_file(FILE.replace(old, new).encode("utf-8", "surrogateescape"))


def test_a_file_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="larger"):
        parse_file(b"#" * 300_000)


DOUBT = Doubt(kind="workflow-edited", reason="it edits the workflow", remedy="look", vouchable=True)
FIXED = replace(DOUBT, kind="shared-head", vouchable=False)


@pytest.mark.parametrize("what", ["all", FP, "every finding"])
def test_no_override_lifts_a_doubt(what: str) -> None:
    """The doubt is about the evidence; what findings there are has nothing to do with it."""
    report = replace(_soft(), doubts=(DOUBT,))
    asked = [replace(_ask(), what=what)]
    if what == "every finding":
        asked = [replace(_ask(), what=f.fingerprint) for f in report.findings]
    after = apply(report, asked, now=NOW)
    assert after.verdict in (Verdict.INCONCLUSIVE, Verdict.FAIL)
    clean = apply(replace(report, findings=(), verdict=Verdict.PASS), asked, now=NOW)
    assert clean.verdict is Verdict.INCONCLUSIVE
    assert clean.reasons[0].startswith(DOUBT.reason)


def test_a_vouch_lifts_what_can_be_vouched_for_and_nothing_else() -> None:
    vouch = replace(_ask(), what=EVIDENCE)
    passing = replace(_soft(), findings=(), verdict=Verdict.PASS)
    assert apply(replace(passing, doubts=(DOUBT,)), [vouch], now=NOW).verdict is Verdict.WARN
    assert apply(replace(passing, doubts=(DOUBT, FIXED)), [vouch], now=NOW).verdict is Verdict.INCONCLUSIVE
    assert apply(replace(_soft(), doubts=(DOUBT,)), [vouch], now=NOW).verdict is Verdict.FAIL
    for doubts in ((), (FIXED,)):
        after = apply(replace(passing, doubts=doubts), [vouch], now=NOW)
        assert not after.overrides[0].accepted
    both = [vouch, replace(_ask(), what="all")]
    assert apply(replace(_soft(), doubts=(DOUBT,)), both, now=NOW).verdict is Verdict.WARN


def test_a_doubt_stands_before_any_override() -> None:
    green = replace(_soft(), verdict=Verdict.PASS)
    assert before_overrides(green) is Verdict.PASS
    assert before_overrides(replace(green, doubts=_doubts())) is Verdict.INCONCLUSIVE
    assert before_overrides(replace(_soft(), doubts=_doubts())) is Verdict.FAIL


def _doubts() -> tuple[Doubt, ...]:
    return (Doubt(kind="version", reason="it was looked at before", remedy="Push again"),)
