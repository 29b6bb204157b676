"""Which questions both sides are asked, by what each answered when it was explored alone."""

from __future__ import annotations

from gate.model.guard_calls import GuardTarget
from gate.signals.guard_calls import worth_asking
from gate.signals.guard_words import Row

GUARD = GuardTarget(path="app/access.py", name="can_edit", line=8)
MEMBER = {"user.role": "member"}
OWNER = {"user.role": "owner"}


def test_what_says_neither_yes_nor_no_is_not_asked_again() -> None:
    unknown = [Row(MEMBER, "raised TypeError Exception", frozenset())]
    assert worth_asking(GUARD, unknown, unknown) == []


def test_what_only_one_side_said_comes_first() -> None:
    base = [Row(OWNER, "true", frozenset()), Row(MEMBER, "false", frozenset())]
    head = [Row(OWNER, "true", frozenset()), Row(MEMBER, "true", frozenset())]
    asked = worth_asking(GUARD, base, head)
    assert {"user.role": "member"} in asked
    assert [one for one in asked if one == MEMBER] == [MEMBER]  # once
