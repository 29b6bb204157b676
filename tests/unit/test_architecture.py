"""docs/architecture.md shows every package, and the import layers name every package."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.paths import REPOSITORY as ROOT

PACKAGE = ROOT / "gate"
LONGEST, MOST_ARGUMENTS = 60, 7
"""Of a function: lines, and arguments without self. ruff holds its complexity (12)."""


def packages() -> set[str]:
    """Folders below gate/ that hold program text, relative to gate/."""
    return {
        path.parent.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "__pycache__" not in path.parts and path.parent != PACKAGE
    }


def drawn() -> set[str]:
    """Folders of the tree in the page, from its indentation."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = page.partition("## The tree")[2].partition("```\n")[2].partition("```")[0]
    found: set[str] = set()
    above: list[str] = []
    for line in block.partition("\n")[2].splitlines():
        match = re.match(r"( *)([a-z_]+)/", line)
        if match is None or not match[1]:
            continue
        depth = len(match[1]) // 2
        above = [*above[: depth - 1], match[2]]
        found.add("/".join(above))
    return found


def test_the_page_shows_every_package_and_none_that_is_gone() -> None:
    shown = drawn() - {"report/templates"}
    assert shown == packages()


def test_every_package_has_a_place_in_the_layers() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [contract for contract in contracts if contract["type"] == "layers"]
    assert layers["exhaustive"] is True
    named = {name.strip() for layer in layers["layers"] for name in layer.split("|")}
    there = {path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"}
    there |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert named == there


def test_no_package_holds_more_than_a_fifth() -> None:
    lines = {
        folder.name: sum(len(p.read_bytes().splitlines()) for p in folder.rglob("*.py"))
        for folder in PACKAGE.iterdir()
        if folder.is_dir()
    }
    assert max(lines.values()) <= sum(lines.values()) / 5, lines


def test_every_package_has_a_floor_of_coverage() -> None:
    """Told within a second here, and not at the end of the suite."""
    floors = tomllib.loads((ROOT / "tests/coverage_floor.toml").read_text(encoding="utf-8"))
    there = {p.relative_to(ROOT).as_posix() for p in PACKAGE.glob("*.py")}
    there |= {p.parent.relative_to(ROOT).as_posix() for p in PACKAGE.glob("*/__init__.py")}
    assert set(floors) == there


def test_no_file_is_longer_than_five_hundred_lines() -> None:
    long = [p for folder in (PACKAGE, ROOT / "tests") for p in folder.rglob("*.py") if _lines(p) > 500]
    assert long == []


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of gate, named by its file and itself."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(PACKAGE).as_posix()}:{node.name}", node


def test_functions_are_short_and_take_few_arguments() -> None:
    long, many = set(), set()
    for name, node in functions():
        if (node.end_lineno or 0) - node.lineno + 1 > LONGEST:
            long.add(name)
        arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if len([a for a in arguments if a not in ("self", "cls")]) > MOST_ARGUMENTS:
            many.add(name)
    assert long == set()
    assert many == set()


def _lines(path: Path) -> int:
    return len(path.read_bytes().splitlines())
