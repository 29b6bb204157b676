"""The host side knows what the driver puts into functions."""

from __future__ import annotations

import ast
from pathlib import Path

from gate.model import probing
from tests.unit.inside.driver.harness import DRIVER


def _constants(path: Path) -> dict[str, object]:
    tree = ast.parse(path.read_text())
    return {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }


def test_both_sides_name_the_same_things() -> None:
    inside = _constants(DRIVER / "argument_values.py")
    outside = {name: value for name, value in vars(probing).items() if name.isupper()}
    assert {name: inside.get(name) for name in outside} == outside
