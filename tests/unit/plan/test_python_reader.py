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


CODE = '''"""Prices."""

# what is due
def due(net, rate=0.2):
    """Net and tax."""
    return net * (1 + rate)
'''


def digests(text: str) -> tuple[str, str]:
    facts = read_facts({"a.py": text.encode()})["a.py"]
    assert facts is not None
    return facts.code, facts.bare


@pytest.mark.parametrize(
    ("old", "new", "code", "bare"),
    [
        ("# what is due\n", "\n# another comment\n\n", True, True),
        ("(net, rate=0.2)", "(\n    net,\n    rate=0.2,\n)", True, True),
        ("Net and tax.", "Net, and tax.", False, True),
        ('    """Net and tax."""\n', "", False, True),
        ("Net and tax.", ">>> import os; os.system('true')", False, False),
        ("0.2", "0.3", False, False),
        ("1 + rate", "1 - rate", False, False),
        ("    return net * (1 + rate)", "    return None", False, False),
        ('"""Prices."""', '#!/bin/sh\n"""Prices."""', False, False),
        ('"""Prices."""', '# -*- coding: latin-1 -*-\n"""Prices."""', False, False),
        ("# what is due", "# /// script\n# dependencies = ['x']\n# ///", False, False),
        ("# what is due", "# distutils: sources = x.c", False, False),
        ("# what is due", "# !pip install x", False, False),
    ],
)
def test_what_is_the_same_code(old: str, new: str, code: bool, bare: bool) -> None:
    assert old in CODE
    before, after = digests(CODE), digests(CODE.replace(old, new, 1))
    assert (before[0] == after[0], before[1] == after[1]) == (code, bare)


def test_a_dependency_of_a_script_is_part_of_its_code() -> None:
    text = "# /// script\n# dependencies = [\n#   'a',\n# ]\n# ///\nprint(1)\n"
    assert digests(text)[0] != digests(text.replace("'a'", "'b'"))[0]
    assert digests(text)[0] == digests(text + "# 'b'\n")[0]


def test_what_this_interpreter_cannot_read_is_never_the_same() -> None:
    assert digests('def f[T](x: T) -> T:\n    return f"{x["a"]}"\n') == ("", "")
