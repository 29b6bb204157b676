"""docs/architecture.md shows every package, and the import layers name every package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.paths import REPOSITORY as ROOT

PACKAGE = ROOT / "gate"


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


def test_no_file_is_longer_than_five_hundred_lines() -> None:
    long = [p for folder in (PACKAGE, ROOT / "tests") for p in folder.rglob("*.py") if _lines(p) > 500]
    assert long == []


def _lines(path: Path) -> int:
    return len(path.read_bytes().splitlines())
