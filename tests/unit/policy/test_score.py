"""The score's promises, for any findings; and what single findings weigh."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.model.finding import Finding
from gate.model.rule import Confidence, FindingStage, Severity
from gate.policy.policy_file import load_policy
from gate.policy.score import CORRELATION, HARD_BLOCK, SCRUTINY, score
from tests.paths import REPOSITORY
from tests.unit.policy.score_findings import finding

POLICY = load_policy()

ANY = st.builds(
    finding,
    stage=st.sampled_from([s.value for s in FindingStage]),
    severity=st.sampled_from([s.value for s in Severity]),
    confidence=st.sampled_from([c.value for c in Confidence]),
    rule=st.sampled_from(["r1", "r2", "r3"]),
    topic=st.sampled_from(["", "exec", "network", "credential"]),
    path=st.sampled_from(["a.py", "b.py"]),
    line=st.sampled_from([None, 1, 2]),
    shape=st.sampled_from(["x", "y"]),
    suppressed_by=st.sampled_from([None, "nosec"]),
    hard_block=st.sampled_from([False, False, False, True]),
)


@given(st.lists(ANY, max_size=30), st.booleans())
def test_bounded_and_every_point_explained(findings: list[Finding], ai: bool) -> None:
    total = score(findings, POLICY, ai_attributed=ai)
    assert 0 <= total.value <= 100
    assert sum(c.points for c in total.contributions) == pytest.approx(total.value, abs=1e-9)
    assert all(c.why and c.points > 0 for c in total.contributions)
    known = {f.rule_id for f in findings} | {CORRELATION, SCRUTINY, HARD_BLOCK}
    assert {c.rule_id for c in total.contributions} <= known


@given(st.lists(ANY, max_size=30), ANY, st.booleans())
def test_adding_a_finding_never_lowers(findings: list[Finding], more: Finding, ai: bool) -> None:
    before = score(findings, POLICY, ai_attributed=ai).value
    assert score([*findings, more], POLICY, ai_attributed=ai).value >= before


def test_order_does_not_show_in_the_words_either() -> None:
    """Equal points, told differently."""
    every = [
        finding(stage="attribution", severity=severity, confidence=confidence, rule="r1")
        for severity in ("medium", "low")
        for confidence in ("low", "medium", "high")
    ]
    assert score(every, POLICY) == score(every[::-1], POLICY) == score(every[2:] + every[:2], POLICY)


@given(st.lists(ANY, max_size=30), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_order_does_not_show(findings: list[Finding], chance: random.Random) -> None:
    shuffled = list(findings)
    chance.shuffle(shuffled)
    assert score(shuffled, POLICY) == score(findings, POLICY) == score(findings, POLICY)


@given(st.lists(ANY, max_size=20))
def test_an_ai_author_never_lowers_and_adds_little(findings: list[Finding]) -> None:
    plain = score(findings, POLICY).value
    closer = score(findings, POLICY, ai_attributed=True).value
    assert plain <= closer <= plain + POLICY.scrutiny.most + 1


@given(st.lists(ANY, max_size=20))
def test_a_suppression_by_the_author_does_not_act(findings: list[Finding]) -> None:
    bare = [
        finding(
            f.stage.value,
            f.severity.value,
            f.confidence.value,
            rule=f.rule_id,
            topic=f.topic,
            path=f.primary.path,
            line=f.primary.line,
            shape=f.shape,
            hard_block=f.hard_block,
        )
        for f in findings
    ]
    assert score(bare, POLICY) == score(findings, POLICY)


def test_nothing_found_is_zero() -> None:
    assert score([], POLICY).value == 0
    assert score([], POLICY).contributions == ()


def test_points_of_nothing_explain_nothing() -> None:
    assert score([finding("attribution", "low", "low")], POLICY, ai_attributed=True).contributions == ()


@pytest.mark.parametrize(
    ("stage", "severity", "confidence", "least", "most"),
    [
        ("behaviour", "critical", "high", 100, 100),
        ("behaviour", "high", "high", 70, 80),  # an unexpected outbound connection: blocked, alone
        ("behaviour", "high", "medium", 30, 69),
        ("behaviour", "medium", "high", 10, 29),
        ("behaviour", "low", "high", 1, 9),
        ("prescreen", "critical", "high", 70, 90),  # decode, then execute
        ("prescreen", "critical", "medium", 30, 69),
        ("prescreen", "high", "high", 30, 69),
        ("prescreen", "high", "medium", 30, 45),
        ("prescreen", "medium", "high", 5, 29),
        ("policy", "high", "high", 30, 69),  # the change edits a workflow
        ("attribution", "high", "high", 1, 29),
    ],
)
def test_one_finding_alone(stage: str, severity: str, confidence: str, least: int, most: int) -> None:
    assert least <= score([finding(stage, severity, confidence)], POLICY).value <= most


def many(stage: str, severity: str, topics: int = 9, lines: int = 100) -> list[Finding]:
    return [
        finding(stage, severity, topic=f"t{t}", rule=f"{stage}-{t}", line=n + 1, shape=str(n))
        for t in range(topics)
        for n in range(lines)
    ]


def test_any_number_of_low_findings_passes() -> None:
    low = many("prescreen", "low") + many("behaviour", "low") + many("policy", "low")
    assert score(low, POLICY).value <= POLICY.ceilings.low < POLICY.bands.warn


def test_any_number_of_medium_findings_warns_at_most() -> None:
    both = many("prescreen", "medium") + many("behaviour", "medium") + many("prescreen", "low")
    assert POLICY.bands.warn <= score(both, POLICY).value < POLICY.bands.fail


def test_one_static_rule_repeated_warns_at_most() -> None:
    repeated = many("prescreen", "high", topics=1)
    assert POLICY.bands.warn <= score(repeated, POLICY).value < POLICY.bands.fail


def test_three_scanners_on_one_line_are_one_finding() -> None:
    alone = [finding("prescreen", "high", "high", rule="ours")]
    more = [finding("prescreen", "high", "medium", rule="bandit.b602"), finding(confidence="low", rule="s")]
    assert score(alone + more, POLICY).value == score(alone, POLICY).value


def test_text_and_run_together_weigh_more_than_both_apart() -> None:
    static = finding("prescreen", "medium", "high", topic="network")
    seen = finding("behaviour", "high", "medium", topic="network")
    other = finding("behaviour", "high", "medium", topic="exec")
    together = score([static, seen], POLICY)
    assert together.value > score([static, other], POLICY).value
    [bonus] = [c for c in together.contributions if c.rule_id == CORRELATION]
    assert bonus.points == 7.0
    assert "network" in bonus.why


def test_topicless_findings_confirm_nothing() -> None:
    pair = [finding("prescreen", topic="", rule="a"), finding("behaviour", topic="", rule="a")]
    assert CORRELATION not in {c.rule_id for c in score(pair, POLICY).contributions}


def test_a_hard_block_shows_a_high_score() -> None:
    marked = score([finding("behaviour", "low", "low", hard_block=True)], POLICY)
    assert marked.value == POLICY.hard_block.floor
    assert HARD_BLOCK in {c.rule_id for c in marked.contributions}
    assert score([finding("behaviour", "low", "low", rule="observation-tampering")], POLICY).value == 95
    assert score([finding("behaviour", "critical", hard_block=True)], POLICY).value == 100


def test_the_ceiling_is_said() -> None:
    [first, *_] = score(many("behaviour", "low") + many("prescreen", "low"), POLICY).contributions
    assert "nothing worse than low" in first.why
    everything = score([finding("behaviour", "critical"), finding("behaviour", topic="b")], POLICY)
    assert "a score ends at 100" in everything.contributions[0].why


def test_repeats_and_lighter_topics_are_said() -> None:
    findings = [finding(line=n, shape=str(n)) for n in (1, 2, 3)] + [
        finding("prescreen", "medium", topic="a")
    ]
    whys = {c.rule_id: c.why for c in score(findings, POLICY).contributions}
    assert whys["prescreen-exec"] == "3 times high severity, high confidence, prescreen"
    assert whys["prescreen-a"].endswith("counted 50% after heavier topics")


def test_the_worked_example_in_the_docs_is_true() -> None:
    findings = [
        finding("prescreen", "high", "medium", topic="network", rule="socket-dup", line=12),
        finding("prescreen", "medium", "high", topic="network", rule="bandit.b310", line=12),
        finding("prescreen", "medium", "medium", topic="exec", rule="bandit.b603", line=20),
        finding("behaviour", "medium", "high", topic="network", rule="name-lookup", line=12),
    ]
    total = score(findings, POLICY, ai_attributed=True)
    page = (REPOSITORY / "docs" / "scoring.md").read_text()
    example = page.split("<!-- example -->")[1].split("<!-- /example -->")[0]
    rows = [
        [cell.strip(" `*") for cell in line.split("|")[1:3]] for line in example.splitlines() if "|" in line
    ]
    told = [(rule, float(points)) for rule, points in rows[2:]]
    assert told[:-1] == [(c.rule_id, c.points) for c in total.contributions]
    assert told[-1] == ("score", total.value)
