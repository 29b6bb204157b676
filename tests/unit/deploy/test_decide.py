"""The deployment decision: everything that must block does, and only what is vouched for passes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.deploy.decide import Decision, Evidence, Step, Terms, decide

NOW = 1_800_000_000
SHA, HEAD, OTHER = "a" * 40, "b" * 40, "c" * 40
BASE, LINE = "9" * 40, ("a" * 40, "9" * 40, "8" * 40)
POLICY = "d" * 64
TERMS = Terms(
    environment="production",
    verdicts=frozenset({"pass", "warn"}),
    max_age=3600.0,
    policies=frozenset({POLICY}),
)
GOOD = Evidence(
    commit=SHA,
    verdict="pass",
    score=3,
    policy=POLICY,
    at=NOW - 60,
    base=BASE,
    source="a test",
    url="https://x.example/1",
)


def judged(*own: Evidence, terms: Terms = TERMS, **stand_ins: Evidence) -> Decision:
    steps = [Step(commit=SHA, own=own, stand_ins={e.commit: (e,) for e in stand_ins.values()})]
    return decide(steps, terms, line=LINE, now=NOW)


def test_a_good_verdict_passes_with_its_link() -> None:
    found = judged(GOOD)
    assert (found.allowed, found.link, found.used) == (True, "https://x.example/1", (GOOD,))
    assert judged(replace(GOOD, verdict="warn")).allowed


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"verdict": "fail"}, "fail"),
        ({"verdict": "inconclusive"}, "inconclusive"),
        ({"at": NOW - 3601}, "old"),
        ({"at": NOW + 301}, "future"),
        ({"policy": "e" * 64}, "policy"),
        ({"base": None}, "base"),
        ({"base": OTHER}, "base"),
        ({"base": SHA}, "nothing was looked at"),
        ({"overridden": True, "overrides_until": NOW - 1}, "expired"),
        ({"distrusted": "made by another app"}, "another app"),
    ],
)
def test_each_flaw_blocks_and_is_named(change: dict[str, object], why: str) -> None:
    for found in (
        judged(replace(GOOD, **change)),  # type: ignore[arg-type]
        judged(head=replace(GOOD, commit=HEAD, **change)),  # type: ignore[arg-type]
    ):
        assert not found.allowed
        assert why in found.reason
        assert found.link == GOOD.url


def test_nothing_blocks_and_waits() -> None:
    for found in (judged(), judged(replace(GOOD, distrusted="x"))):
        assert not found.allowed
        assert found.waiting
    assert not judged(replace(GOOD, verdict="fail")).waiting
    assert not decide([], TERMS, line=LINE, now=NOW).allowed


def test_overrides_while_they_last_and_only_where_taken() -> None:
    overridden = replace(GOOD, verdict="warn", overridden=True, overrides_until=NOW + 10)
    assert judged(overridden).allowed
    assert not judged(overridden, terms=replace(TERMS, overrides=False)).allowed


def test_the_newest_trusted_verdict_decides_and_ties_go_to_the_worse() -> None:
    failed = replace(GOOD, verdict="fail", at=GOOD.at + 1)
    assert not judged(GOOD, failed).allowed
    assert judged(replace(failed, at=GOOD.at - 1), GOOD).allowed
    assert not judged(GOOD, replace(failed, at=GOOD.at)).allowed
    assert judged(GOOD, replace(failed, distrusted="a stranger")).allowed


def test_a_stand_in_speaks_only_where_the_commit_itself_is_silent() -> None:
    twin = replace(GOOD, commit=HEAD)
    assert judged(head=twin).allowed
    assert not judged(replace(GOOD, verdict="fail"), head=twin).allowed
    wrong = {HEAD: (replace(GOOD, commit=OTHER),)}
    assert not decide([Step(commit=SHA, own=(), stand_ins=wrong)], TERMS, line=LINE, now=NOW).allowed


@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_a_range_needs_every_commit(good: list[bool]) -> None:
    steps = [Step(commit=SHA, own=(GOOD,) if ok else (), stand_ins={}) for ok in good]
    assert decide(steps, TERMS, line=LINE, now=NOW).allowed is all(good)


@given(
    st.lists(
        st.builds(
            Evidence,
            commit=st.just(SHA),
            verdict=st.sampled_from(["pass", "warn", "fail", "inconclusive"]),
            score=st.integers(0, 100),
            policy=st.sampled_from([POLICY, "e" * 64]),
            at=st.sampled_from([NOW - 4000, NOW - 60, NOW + 1000]),
            source=st.just("x"),
            distrusted=st.sampled_from(["", "stranger"]),
            base=st.sampled_from([None, OTHER, SHA, BASE, LINE[2]]),
            overridden=st.booleans(),
            overrides_until=st.sampled_from([None, NOW - 1, NOW + 1]),
        )
    )
)
def test_never_allowed_without_one_flawless_verdict(found: list[Evidence]) -> None:
    if judged(*found).allowed:
        assert any(
            not e.distrusted
            and e.base in LINE[1:]
            and e.verdict in ("pass", "warn")
            and e.policy == POLICY
            and e.at == NOW - 60
            and not (e.overridden and e.overrides_until == NOW - 1)
            for e in found
        )
