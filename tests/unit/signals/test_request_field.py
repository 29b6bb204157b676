"""A known request that says something else: how much that weighs."""

from __future__ import annotations

from dataclasses import replace

from gate.model.finding import Finding
from gate.model.request_fields import FieldChange
from gate.model.rule import Confidence, Severity
from gate.policy.policy_file import load_policy
from gate.signals.run import RULES
from tests.unit.signals.context import context, run

RULE = next(rule for rule in RULES if rule.meta.id == "request-field")
CHANNEL = FieldChange(
    host="chat.example",
    request="POST /api/post",
    part="body.channel",
    before=('"C04FINOPS7"',),
    after=('"C05ELSE99"',),
    names_whom=True,
    probe="p1",
)
TRACE = replace(CHANNEL, part="header x-trace", before=(), after=("7",), names_whom=False)


def told(*fields: FieldChange, path: str = "shop/cart.py") -> list[Finding]:
    runs = (run("call", path=path),)
    return list(RULE.check(replace(context(runs=runs), fields=fields)))


def test_another_account_needs_a_person() -> None:
    (finding,) = told(CHANNEL)
    assert (finding.severity, finding.confidence) == (Severity.MEDIUM, Confidence.MEDIUM)
    assert finding.evidence["fields"] == 'body.channel: "C04FINOPS7" → "C05ELSE99"'
    assert "C05" not in finding.message + finding.shape
    policy = load_policy()
    assert policy.least(finding, policy.thresholds).value == "warn"


def test_a_name_that_is_nearly_the_same_is_forged() -> None:
    (finding,) = told(replace(CHANNEL, after=('"C04FIN0PS7"',)))
    assert finding.severity is Severity.HIGH


def test_a_field_more_is_for_a_reader() -> None:
    (finding,) = told(TRACE)
    assert finding.severity is Severity.LOW
    assert finding.evidence["fields"] == "header x-trace: 7 (new)"
    policy = load_policy()
    assert policy.least(finding, policy.thresholds).value == "pass"


def test_fields_of_one_request_are_one_finding_by_their_weight() -> None:
    found = told(CHANNEL, replace(CHANNEL, part="header x-org-id"), TRACE)
    assert sorted(one.severity.value for one in found) == ["low", "medium"]


def test_a_changed_test_names_whom_it_likes() -> None:
    (finding,) = told(CHANNEL, path="tests/test_cart.py")
    assert finding.severity is Severity.LOW


def test_what_our_probes_and_every_client_say_is_nothing() -> None:
    assert told(replace(CHANNEL, host="example.invalid")) == []
    assert told(replace(TRACE, part="header accept")) == []
    assert told() == []
