"""rules/policy.toml: strict, and never a table where more evidence counts less."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.errors import Exit, UsageError
from gate.model.rule import Confidence, FindingStage, Severity
from gate.policy.policy_file import load_policy, parse_policy
from gate.resources import rules_dir

TEXT = (rules_dir() / "policy.toml").read_text()


def test_the_shipped_policy_loads() -> None:
    policy = load_policy()
    assert (policy.thresholds.warn, policy.thresholds.fail) == (30, 70)
    assert load_policy() is policy


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("[bands]", "[bands]\nwran = 20", "wran"),
        ("version = 1", "version = 2", "version"),
        ("warn = 30", "warn = 80", "warn <= fail"),
        ("high = [25, 49, 72]", "high = [25, 49, 20]", "confidence"),
        ("high = [25, 49, 72]", "high = [1, 1, 1]", "severity"),
        ("high = [25, 49, 72]", "high = [25, 49]", "high"),
        ("high = [25, 49, 72]", "high = [25, 49, 172]", "100"),
        ("repeats = [1.0, 0.2, 0.1, 0.05]", "repeats = [0.2, 1.0]", "repeats"),
        ("topics = [1.0, 0.5, 0.4, 0.3, 0.1, 0.0]", "topics = []", "topics"),
        ("low = 20\n", "low = 90\n", "ceilings"),
        ('"observation-tampering"', '"no id"', "no id"),
        ('best = "warn"', 'best = "pass"', "best"),
        ("[no_sandbox]", "no toml [", "policy.toml"),
    ],
)
def test_a_slip_is_refused_by_name(old: str, new: str, named: str) -> None:
    assert old in TEXT
    with pytest.raises(UsageError, match="policy") as caught:
        parse_policy(TEXT.replace(old, new, 1))
    assert named in caught.value.message
    assert caught.value.exit is Exit.USAGE
    assert caught.value.advice


def test_a_missing_file_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        load_policy(tmp_path / "none.toml")


def test_seen_weighs_more_than_read() -> None:
    points = load_policy().points
    for severity in Severity:
        for confidence in Confidence:
            seen = points.behaviour.of(severity, confidence)
            for stage in set(FindingStage) - {FindingStage.BEHAVIOUR}:
                assert seen >= getattr(points, stage.value).of(severity, confidence)
