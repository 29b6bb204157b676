"""What a guard's answer means, and rows of a driver that have another form than its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.model.guard_calls import GuardTarget
from gate.plan.guards import guard_probe
from gate.signals.guard_calls import rows_of
from gate.signals.guard_words import GuardWords, Row
from tests.unit.plan.test_coverage import record
from tests.unit.signals.context import changed

REFUSED = [
    "raised HTTPException Exception status 401",
    "raised HTTPException Exception status 403 said",
    "raised PermissionError OSError Exception said",
    "raised Forbidden Exception",
    "status 401",
    "status 403",
]
NEITHER = [
    "raised HTTPException Exception status 404",
    "raised HTTPException Exception status 500 said",
    "raised FileNotFoundError OSError Exception said",
    "raised ValueError Exception said",
    "raised A\nB",
    "status 404",
    "status 500",
    "false",
]


@pytest.mark.parametrize("word", REFUSED)
def test_refuses_whatever_the_function_is_called(word: str) -> None:
    for name in ("total", "check_permission"):
        assert GuardWords(name, ()).refuse(word)
        assert GuardWords(name, ()).refuse_openly(word)


@pytest.mark.parametrize("word", NEITHER)
def test_says_nothing_of_a_function_that_is_no_guard(word: str) -> None:
    words = GuardWords("total", ())
    assert not words.refuse(word)
    assert not words.accept(word)


@pytest.mark.parametrize(
    ("word", "refuses"),
    [
        ("raised HTTPException Exception status 404", True),
        ("raised HTTPException Exception status 500", False),
        ("raised ValueError Exception said", True),
        ("raised ValueError Exception", False),
        ("raised TypeError Exception said", False),
        ("status 404", True),
        ("false", True),
        ("true", False),
    ],
)
def test_a_guard_by_its_name_refuses_in_more_ways(word: str, refuses: bool) -> None:
    assert GuardWords("check_permission", ()).refuse(word) is refuses


def test_an_answer_of_success_lets_in() -> None:
    words = GuardWords("check_permission", ())
    assert words.accept("status 204")
    assert not words.accept("status 302")


def test_a_part_of_who_asks_makes_a_guard() -> None:
    row = Row({"user.id": ["same", "note.owner_id"]}, "value", frozenset())
    assert GuardWords("find", [row]).refuse("none")
    other = Row({"note.id": ["same", "note.owner_id"]}, "value", frozenset())
    assert not GuardWords("find", [other]).refuse("none")


def test_rows_of_another_form_are_left_out() -> None:
    target = GuardTarget(path="app/a.py", name="may_edit", line=1)
    probe = guard_probe([target], changed("app/a.py"), frozenset({"app/a.py"}), "head", 1.0)
    good = [{"user": "x"}, "true", ["user"]]
    rows = [good, [1, "true", []], "text", [{}, "true"], [{}, "true", "user"]]
    told = {"may_edit": ["()", rows], "unknown": ["()", [good]], "may_view": "text"}

    def heard(guards: object) -> object:
        report = {"items": [{"guards": guards}]}
        return rows_of(replace(record(report), probe=probe), [target])

    assert heard(told) == {target: (Row({"user": "x"}, "true", frozenset({"user"})),)}
    for wrong in ({"may_edit": "text"}, {"may_edit": [1]}, {"may_edit": [1, 2]}, "text", None):
        assert heard(wrong) == {}
