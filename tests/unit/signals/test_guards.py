"""Guards that accept what they refused, as findings."""

from __future__ import annotations

from dataclasses import replace

from gate.model.guard_calls import GuardTarget, OpenedGuard
from gate.model.rule import Severity
from gate.signals.guards import guard_findings

OPENED = OpenedGuard(
    target=GuardTarget(path="app/access.py", name="can_edit", line=8),
    asked=("user.role = '*'", "user.role = ''"),
    base="false",
    head="true",
)


def test_what_was_asked_is_told_and_plain_ones_weigh_less() -> None:
    other = replace(OPENED, target=replace(OPENED.target, name="can_view", changed=True), plain=True)
    first, second = guard_findings([OPENED, other], ())
    assert (first.rule_id, first.severity, first.primary.line) == (
        "refused-then-accepted",
        Severity.HIGH,
        8,
    )
    assert first.evidence["asked"] == "user.role = '*' | user.role = ''"
    assert first.evidence["own text"] == "as it was"
    assert (second.severity, second.evidence["own text"]) == (Severity.MEDIUM, "changed")


def test_what_another_look_told_is_not_told_again() -> None:
    (told,) = guard_findings([OPENED], ())
    assert guard_findings([OPENED], [told]) == ()
    assert len(guard_findings([OPENED], [replace(told, rule_id="another")])) == 1


def test_a_few_are_told() -> None:
    many = [replace(OPENED, target=replace(OPENED.target, name=f"can_edit_{n}")) for n in range(9)]
    assert len(guard_findings(many, ())) == 5
