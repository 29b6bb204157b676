"""Packages that go back to an older version, read from both sides of a file; pure functions."""

from __future__ import annotations

import pytest

from gate.supply.inputs.difference import InputContext, compare
from gate.supply.inputs.readers import read

LOCK = '[[package]]\nname = "{}"\nversion = "{}"\nsource = {{ registry = "https://pypi.org/simple" }}\n'


def levels(path: str, base: str, head: str, *asked: str) -> list[tuple[str, str]]:
    """What is told of the file: how grave, and in which words."""
    around = InputContext(known=frozenset, asks=frozenset(asked).__contains__)
    old, new = (read(path, text.encode(), {}) for text in (base, head))
    assert not old.refused
    assert not new.refused
    return [(one.level, one.told) for one in compare(old, new, around) if one.what == "older"]


def test_one_that_the_project_asks_for_is_grave_by_its_first_number() -> None:
    back = levels("requirements.txt", "django==4.2.1\n", "django==3.2.9\n", "django")
    assert back == [("medium", "`django` ==3.2.9 was ==4.2.1")]
    assert levels("requirements.txt", "django==4.2.9\n", "django==4.2.1\n", "django")[0][0] == "low"
    assert levels("requirements.txt", "pre==0.9.1\n", "pre==0.8.7\n", "pre")[0][0] == "medium"


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("^9.0.2", "^8.5.1"),
        ("9.0.2", "8.5.1"),
        ("~9.0.2", "^8.5.1"),
        ("9.0.2", "9.0.2-rc.1"),
    ],
)
def test_ranges_that_leave_room_upwards_alone_are_compared_by_where_they_begin(base: str, head: str) -> None:
    texts = [f'{{"dependencies": {{"jsonwebtoken": "{version}"}}}}' for version in (base, head)]
    assert levels("package.json", *texts)
    assert not levels("package.json", *reversed(texts))


@pytest.mark.parametrize(
    ("base", "head"),
    [(">=2", ">=1.9"), (">=2,<3", ">=1,<2"), ("==2.*", "==1.*"), ("", "==1"), ("==2", ""), ("==2", "==2.0")],
)
def test_what_a_range_takes_is_for_the_solver_to_say(base: str, head: str) -> None:
    assert not levels("requirements.txt", f"a{base}\n", f"a{head}\n")


def test_in_a_lock_what_others_need_is_no_decision_of_the_projects() -> None:
    base, head = LOCK.format("urllib3", "2.2.1"), LOCK.format("urllib3", "1.26.4")
    assert [level for level, _ in levels("uv.lock", base, head)] == ["low"]
    assert [level for level, _ in levels("uv.lock", base, head, "urllib3")] == ["medium"]
    both = base + LOCK.format("urllib3", "1.26.3")  # one for an older interpreter was there before
    assert not levels("uv.lock", both, both.replace("1.26.3", "1.26.4"))
