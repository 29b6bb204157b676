"""What follows a secret, as findings."""

from __future__ import annotations

import pytest

from gate.model.rule import Confidence, Severity
from gate.model.varied import Channel, Dependence, Doubt, How
from gate.policy.policy_file import load_policy
from gate.signals.varied import doubt_findings, varied_findings

AWAY = Channel(kind="http", to="metrics.example", part="body.id")


def one(channel: Channel, how: How = "content") -> Dependence:
    return Dependence(
        channel=channel,
        how=how,
        first="0" * 12,
        other="1" * 12,
        sizes=(40, 47),
        probe="p1",
        target="call shop.cart",
        path="shop/cart.py",
    )


@pytest.mark.parametrize(
    ("channel", "severity", "sure"),
    [
        (AWAY, Severity.CRITICAL, True),
        (Channel(kind="dns", to="metrics.example"), Severity.CRITICAL, True),
        (Channel(kind="file", to="tree", part="a.txt"), Severity.HIGH, True),
        (Channel(kind="stdout"), Severity.HIGH, True),
        (Channel(kind="argv", to="true"), Severity.HIGH, True),
        (Channel(kind="file", to="home", part="a.txt"), Severity.MEDIUM, False),
        (Channel(kind="sleep"), Severity.MEDIUM, False),
    ],
)
def test_the_place_decides_how_bad(channel: Channel, severity: Severity, sure: bool) -> None:
    (finding,) = varied_findings([one(channel)])
    assert finding.severity is severity
    assert finding.confidence is (Confidence.HIGH if sure else Confidence.MEDIUM)


def test_sizes_alone_are_less_sure_and_both_values_are_told_by_digest() -> None:
    (finding,) = varied_findings([one(AWAY, "size")])
    assert finding.confidence is Confidence.MEDIUM
    assert finding.evidence["with the first secrets"] == "40 bytes, sha256 000000000000"
    assert finding.evidence["channel"] == "http metrics.example body.id"
    assert not finding.hard_block


def test_channels_to_one_place_are_one_finding_with_a_shape_that_holds_no_secret() -> None:
    names = [Channel(kind="file", to="tree", part=f"cache_{n}") for n in range(9)]
    (finding,) = varied_findings([one(name, "presence") for name in names])
    assert finding.shape == "file"
    assert finding.evidence["likewise"].endswith("; and 4 more")
    assert len(varied_findings([one(AWAY), one(AWAY, "size"), one(Channel(kind="stdout"))])) == 2


def test_a_doubt_is_one_finding_for_each_receiver_and_never_green() -> None:
    fields = [Channel(kind="http", to="metrics.example", part=f"header x-{n}") for n in range(3)]
    doubts = [Doubt(channel=f, secrets=("A_TOKEN",), target="call shop.cart", path="a.py") for f in fields]
    (finding,) = doubt_findings(doubts)
    assert finding.evidence["asked for"] == "A_TOKEN"
    assert (finding.severity, finding.confidence) == (Severity.MEDIUM, Confidence.LOW)
    policy = load_policy()
    assert policy.least(finding, policy.thresholds).value == "warn"
    assert doubt_findings([]) == ()
