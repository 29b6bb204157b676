"""Conditions in normal form: what is the same condition, and what is not."""

from __future__ import annotations

import ast

import pytest

from gate.languages.tree_sitter_parse import parse
from gate.protections.conditions import Conditions, Term, family_of_atom
from gate.protections.javascript import conditions as javascript_conditions
from gate.protections.javascript.conditions import first_in


def _python(text: str, holds: bool = True, **local: str) -> set[Term]:
    known = {name: ast.parse(value, mode="eval").body for name, value in local.items()}
    return set(Conditions(known).terms(ast.parse(text, mode="eval").body, holds))


def _javascript(text: str, holds: bool = True) -> set[Term]:
    statement = first_in(parse(text.encode(), "typescript"))
    expression = first_in(statement)
    assert expression is not None
    return set(javascript_conditions.Conditions({}).terms(expression, holds))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("not (a and b)", "not a or not b"),
        ("not (a or b)", "not a and not b"),
        ("user.is_admin", "current_user.is_admin"),
        ("x is None", "not x"),
        ("x is False", "not x"),
        ("bool(x) is True", "x"),
        ("a >= b", "not a < b"),
        ("a > b", "b < a"),
        ("a <= b", "not b < a"),
        ("a != b", "not b == a"),
        ("x not in known", "not x in known"),
        ("a < b < c", "a < b and b < c"),
        ("any([a, b])", "a or b"),
        ("all((a, b))", "b and a"),
        ("(found := a)", "a"),
        ("session.get('user')", "session['user']"),
        ("doc.owner.id != request.user.id", "g.user.id != page.owner.id"),
        ("user.has_perm('x')", "account.has_perm('x')"),
    ],
)
def test_same_condition(one: str, other: str) -> None:
    assert _python(one) == _python(other)
    assert _python(one, False) == _python(other, False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a and b", "a or b"),
        ("user.is_admin", "user.is_staff"),
        ("user.has_perm('x')", "user.has_perm('y')"),
        ("a < b", "a <= b"),
        ("role == 'admin'", "role == 'guest'"),
    ],
)
def test_other_condition(one: str, other: str) -> None:
    assert _python(one) != _python(other)


def test_names_are_followed() -> None:
    assert _python("not ok", ok="user.is_admin and fresh", fresh="now < end") == _python(
        "not user.is_admin or not now < end"
    )


def test_a_name_made_of_itself_ends() -> None:
    assert len(_python("x", x="x or y")) >= 1


def test_too_many_ways_are_one() -> None:
    many = " and ".join(f"(a{i} or b{i})" for i in range(12))
    assert len(_python(many)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("!(a && b)", "!a || !b"),
        ("req.user.isAdmin", "user?.isAdmin"),
        ("x === null", "!x"),
        ("(a as string) !== b", "!(b === a)"),
        ("a >= b", "!(a < b)"),
        ("Boolean(x)", "x"),
        ("doc.ownerId !== req.user.id", "!(session.userId === page.ownerId)"),
    ],
)
def test_same_condition_in_javascript(one: str, other: str) -> None:
    assert _javascript(one) == _javascript(other)


@pytest.mark.parametrize(
    ("atom", "family"),
    [
        ("-is_admin", "authorisation"),
        ("+owner_id == user", "authorisation"),
        ("+user == 'root'", None),
        ("-csrf_token", "csrf"),
        ("-compare_digest", "integrity"),
        ("-is_authenticated", "authentication"),
        ("+author == 'x'", None),
        ("+tokenizer", None),
        ("+can_parse", None),
    ],
)
def test_family(atom: str, family: str | None) -> None:
    assert family_of_atom(atom) == family
