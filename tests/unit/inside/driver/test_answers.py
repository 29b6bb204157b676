"""What calls answered, in words that are the same in both runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate.inside.driver.answers import answer, asked, refusal, signature
from tests.unit.inside.driver.harness import imported, lay_tree


class Reply:
    def __init__(self, status: object) -> None:
        self.status_code = status


class Odd:
    @property
    def status_code(self) -> int:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (True, "true"),
        (False, "false"),
        (None, "none"),
        (1, "value"),
        ("secret", "value"),
        (Reply(403), "status 403"),
        (Reply("x"), "value"),
        (Odd(), "value"),
    ],
)
def test_words(value: object, word: str) -> None:
    assert answer(value) == word


def test_a_refusal_names_its_classes() -> None:
    assert refusal(PermissionError("who")) == "raised PermissionError OSError Exception"


def test_questions_are_named_by_plain_values_else_by_number() -> None:
    assert asked(1, ("a", [1]), {}) == asked(7, ("a", [1]), {}) != asked(1, ("b", [1]), {})
    assert asked(3, (object(),), {}) == "n3"
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep]
    assert asked(4, (deep,), {}) == "n4"


def test_what_has_no_signature() -> None:
    assert signature(3) == ""
    assert signature(refusal) == "(error: 'BaseException') -> 'str'"


def test_the_driver_tells_them(tmp_path: Path) -> None:
    source = "def may(user: str):\n if user != 'owner': raise PermissionError\n return True\n"
    tree = lay_tree(tmp_path, {"a.py": source})
    driven = imported(tree, "a", ["may"])
    given, answers = driven.item["answers"]["may"]
    assert given == "(user: str)"
    words = {word for _, word in answers}
    assert words == {"true", "raised PermissionError OSError Exception"}
    assert len({question for question, _ in answers}) == len(answers)


@pytest.mark.parametrize("values", [("body", ""), (b"",), ("none",)])
def test_a_question_says_that_it_proves_nothing(values: tuple[object, ...]) -> None:
    assert asked(1, values, {}).endswith("-")


@pytest.mark.parametrize("values", [(0, []), ("body",), (None,)])
def test_other_questions_do_not(values: tuple[object, ...]) -> None:
    assert not asked(1, values, {}).endswith("-")
