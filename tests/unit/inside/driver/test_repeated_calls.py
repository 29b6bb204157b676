"""What counts its calls is called until its number is reached; nothing else is called more often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate.inside.driver import repeated_calls
from tests.unit.inside.driver.harness import imported, lay_tree

MARK = 'open("ran", "w").close()'


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        pytest.param(
            "import itertools\nN = itertools.count(1)\ndef f(x):\n if next(N) % 4096 == 0: {mark}",
            ["f"],
            id="iterator",
        ),
        pytest.param("n = 0\ndef f():\n global n\n n += 1\n if n == 777: {mark}", ["f"], id="global"),
        pytest.param(
            "class A:\n def __init__(self): self.n = 0\n def m(self, x):\n  self.n += 1\n"
            "  if self.n >= 300: {mark}",
            ["A.m"],
            id="attribute",
        ),
        pytest.param(
            "SEEN = {}\ndef f(key):\n SEEN[key] = SEEN.get(key, 0) + 1\n if SEEN[key] > 1000: {mark}",
            ["f"],
            id="table",
        ),
    ],
)
def test_reaches(source: str, calls: list[str], tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"mod.py": source.replace("{mark}", MARK)})
    imported(tree, "mod", calls)
    assert (tree / "ran").exists()


def pure(x: int) -> bool:
    return x % 100 == 7


def large(x: Any) -> None:
    x.n = x.n + 1 if x.n < 10**9 else 0


def test_only_what_counts_is_called_in_a_row() -> None:
    assert [repeated_calls.times_of(one) for one in (pure, large, None, int)] == [0, 0, 0, 0]


def test_ends_where_it_is_slow() -> None:
    import time

    def slow() -> None:
        time.sleep(0.002)

    assert repeated_calls.call(slow, 1000, KeyboardInterrupt) < 50


def test_exceptions_are_ordinary_but_the_clock_is_not() -> None:
    class Late(BaseException):
        pass

    def late() -> None:
        raise Late

    assert repeated_calls.call(lambda: 1 / 0, 20, Late) == 20
    with pytest.raises(Late):
        repeated_calls.call(late, 20, Late)
