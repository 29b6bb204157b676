"""Codes of predictable generators: what they open is told by what is around."""

from __future__ import annotations

import pytest

from tests.unit.prescreen.python_ast.test_outside_calls import levels

_CODE = """import random

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"


def new_code():
    generator = random.Random(7)
    return "".join(generator.choice(LETTERS) for _ in range(16))
"""


@pytest.mark.parametrize(
    ("path", "told"),
    [("invites/codes.py", True), ("app/invites.py", True), ("app/colours.py", False), ("codes.py", False)],
)
def test_the_folder_says_what_a_code_opens(path: str, told: bool) -> None:
    found = levels({path: _CODE})
    assert [level for rule, level in found.items() if rule.startswith("py.weak-random")] == ["high"] * told
