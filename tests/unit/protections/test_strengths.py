"""Quantities that protect: which names speak of one, what is folded, and how much less is too little."""

from __future__ import annotations

import ast

import pytest

from gate.protections.facts import Strength
from gate.protections.python.strengths import constants_of, strengths_in
from gate.protections.strengths import strength, weakened


def _read(text: str) -> dict[str, float]:
    tree = ast.parse(text)
    return {one.what: one.amount for one in strengths_in(tree.body, "", constants_of(tree))}


@pytest.mark.parametrize(
    ("text", "what", "amount"),
    [
        ("secrets.token_urlsafe(16)", "length of random values", 128),
        ("secrets.token_hex()", "length of random values", 256),
        ("secrets.token_hex(32)[:8]", "length of random values", 32),
        ("N = 2 * 8\nos.urandom(N)", "length of random values", 128),
        ("app.permanent_session_lifetime = timedelta(hours=1, minutes=30)", "lifetime", 5_400),
        ("ACCESS_TOKEN_EXPIRE_MINUTES = 15", "lifetime", 900),
        ('SESSION_COOKIE_AGE = int(os.environ.get("AGE", "60"))', "lifetime", 60),
        ("exp = {'sub': 1, 'exp': now() + timedelta(days=1), 'jwt': 2}", "lifetime", 86_400),
        ("bcrypt.gensalt(rounds=12)", "cost of bcrypt", 4_096),
        ("hashlib.pbkdf2_hmac('sha256', p, s, 6 * 10**5)", "rounds of a password hash", 600_000),
        ("if len(password) < 12: fail()", "length of a password", 12),
        ("if 12 > len(password): fail()", "length of a password", 12),
        ("MAX_CONTENT_LENGTH = 1 << 20", "size of what is sent", 1 << 20),
    ],
)
def test_a_quantity_is_read_as_a_value(text: str, what: str, amount: float) -> None:
    assert _read(text)[what] == pytest.approx(amount)


@pytest.mark.parametrize(
    "text",
    [
        "timeout = 30",
        "CACHE_TTL = 60",
        "rounds = 3",
        "if len(name) < 3: fail()",
        "response.set_cookie('theme', name, max_age=60)",
        "SESSION_COOKIE_AGE = True",
        "ROUNDS = 9 ** 9 ** 9 ** 9",
        "SESSION_COOKIE_AGE = SESSION_COOKIE_AGE * 2",
    ],
)
def test_other_numbers_are_none(text: str) -> None:
    assert _read(text) == {}


def _made(what: str, amount: float) -> Strength:
    return Strength(what=what, amount=amount, text="", line=1)


@pytest.mark.parametrize(
    ("what", "before", "after", "told"),
    [
        ("length of random values", 256, 128, False),
        ("length of random values", 256, 64, True),
        ("length of random values", 64, 48, False),
        ("lifetime", 60, 86_400, False),
        ("lifetime", 3_600, 864_000, True),
        ("lifetime", 864_000, 3_600, False),
        ("key size", 2_048, 1_024, True),
        ("key size", 4_096, 2_048, False),
        ("how hard it is to guess KEY", 256, 1, True),
        ("how hard it is to guess KEY", 1, 1, False),
    ],
)
def test_only_a_large_loss_past_the_bound_counts(what: str, before: float, after: float, told: bool) -> None:
    assert bool([*weakened([_made(what, before)], [_made(what, after)])]) is told


def test_a_value_that_both_sides_have_is_no_partner() -> None:
    old = [_made("lifetime", 60), _made("lifetime", 8_640_000)]
    assert [*weakened(old, [_made("lifetime", 8_640_000), _made("lifetime", 120)])] == []


def test_what_protects_nothing_is_no_strength() -> None:
    assert strength("page_size", "users", 50, "", 1) is None
    assert strength("lifetime", "session", -1, "", 1) is None
