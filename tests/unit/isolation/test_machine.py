"""Two sandboxes that are to run at once: by how much they missed each other."""

from __future__ import annotations

import pytest

from gate.isolation.machine import _missed_by
from gate.isolation.statement import Answer


def window(begin: str, end: str) -> Answer:
    return Answer(id="near.window-a", held=True, tried=begin, happened=end)


@pytest.mark.parametrize(
    ("one", "two", "least", "most"),
    [
        (("10", "20"), ("15", "25"), 0, 0),
        (("10", "20"), ("19.9", "25"), 0.05, 0.15),
        (("10", "20"), ("50", "60"), 30, 31),
        (("50", "60"), ("10", "20"), 30, 31),
        (("10", "20"), ("soon", "25"), 1, 60),
        (("10", "20"), None, 1, 60),
    ],
)
def test_by_how_much_two_missed_each_other(
    one: tuple[str, str], two: tuple[str, str] | None, least: float, most: float
) -> None:
    missed = _missed_by([window(*one), window(*two) if two else None])
    assert least <= missed <= most
