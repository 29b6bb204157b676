"""Which statements of a Python file an interpreter runs."""

from __future__ import annotations

import pytest

from gate.plan.python_source import read_facts

BLOCK = """
if {test}:
    from shop import Order

    Orders = list[Order]
else:
    Order = None
"""


def statements(text: str) -> list[tuple[int, int]]:
    facts = read_facts({"a.py": text.encode()})["a.py"]
    assert facts is not None
    return list(facts.statements)


def test_docstrings_and_bare_annotations_run_nothing() -> None:
    text = '"""What it is."""\nclass A:\n    """It."""\n\n    x: int\n    """Its x."""\n    y: int = 1\n'
    assert statements(text) == [(2, 2), (7, 7)]


@pytest.mark.parametrize(
    ("first", "test"),
    [
        ("import typing", "typing.TYPE_CHECKING"),
        ("import typing as t", "t.TYPE_CHECKING"),
        ("from typing import TYPE_CHECKING", "TYPE_CHECKING"),
        ("from typing_extensions import TYPE_CHECKING as CHECKING", "CHECKING"),
    ],
)
def test_what_is_there_for_type_checkers_runs_nothing(first: str, test: str) -> None:
    assert statements(first + BLOCK.format(test=test)) == [(1, 1), (2, 2), (7, 7)]


@pytest.mark.parametrize(
    ("first", "test"),
    [
        ("from typing import TYPE_CHECKING\nTYPE_CHECKING = True", "TYPE_CHECKING"),
        ("import typing\ntyping.TYPE_CHECKING = True", "typing.TYPE_CHECKING"),
        ("from typing import Any as TYPE_CHECKING", "TYPE_CHECKING"),
        ("from shop.typing import TYPE_CHECKING", "TYPE_CHECKING"),
        ("from .typing import TYPE_CHECKING", "TYPE_CHECKING"),
        ("import shop as typing", "typing.TYPE_CHECKING"),
        ("import typing", "not typing.TYPE_CHECKING"),
        ("", "DEBUG"),
    ],
)
def test_a_block_that_only_looks_so_is_code(first: str, test: str) -> None:
    assert len([s for s in statements(first + BLOCK.format(test=test)) if s[0] > first.count("\n") + 2]) >= 2
