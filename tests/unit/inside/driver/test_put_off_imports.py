"""Modules and tests that need a package which cannot be loaded for a part of what they do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.inside.driver.harness import drive, lay_tree

SHOP = """
    from nothere.pdf import HTML, Base, Failure, page_size
    import nothere

    SIZE = page_size("A4")


    @nothere.cached
    def total(prices: "list[HTML]") -> int:
        return sum(prices)


    class Sheet(Base):
        def name(self) -> str:
            return "sheet"


    def paint(text: str) -> bytes:
        text = text.strip()
        return HTML(string=text).write_pdf()


    def quick(x: HTML | None = None) -> int:
        try:
            return nothere.speed
        except Failure:
            return 1
"""
TESTS = """
    import shop


    def test_total():
        assert shop.total([1, 2]) == 3


    def test_paint():
        assert shop.paint(" x ")


    def test_name():
        assert shop.Sheet().name() == "sheet"
"""
LINES = {"shop.py": [[1, 40]], "test_shop.py": [[1, 40]]}


def _ran(item: dict[str, Any], path: str, tree: Path) -> list[str]:
    text = (tree / path).read_text().splitlines()
    return [text[n - 1].strip() for n in item["put_off"]["lines"].get(path, ())]


def test_what_needs_no_missing_package_runs_as_it_is(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"shop.py": SHOP})
    calls = ["total", "paint", "quick", "Sheet.name"]
    item = {"do": "import", "module": "shop", "path": "shop.py", "calls": calls}
    seen = drive(tree, {"items": [item], "lines": LINES, "seconds": 60}).item
    assert (seen["outcome"], seen["missing"], seen["stand_in"]) == ("missing", "nothere", True)
    assert seen["put_off"]["names"] == ["nothere"]
    ran = _ran(seen, "shop.py", tree)
    assert {"return sum(prices)", "text = text.strip()", "import nothere"} <= set(ran)
    for used in (
        "from nothere.pdf import HTML, Base, Failure, page_size",
        'SIZE = page_size("A4")',
        "@nothere.cached",
        "class Sheet(Base):",
    ):
        assert used not in ran
    for needs in (
        "return HTML(string=text).write_pdf()",
        'return "sheet"',
        "return nothere.speed",
        "return 1",
    ):
        assert needs not in ran


@pytest.mark.parametrize("runner", ["pytest", "plain"])
def test_tests_that_need_no_missing_package_run(tmp_path: Path, runner: str) -> None:
    files = {"shop.py": SHOP, "test_shop.py": TESTS}
    if runner == "plain":
        files["pytest.py"] = "raise ImportError('too old')"
    tree = lay_tree(tmp_path / "t", files)
    seen = drive(
        tree, {"items": [{"do": "test", "paths": ["test_shop.py"]}], "lines": LINES, "seconds": 60}
    ).item
    assert seen["missing"] == "nothere"
    assert "assert shop.total([1, 2]) == 3" in _ran(seen, "test_shop.py", tree)
    assert "return sum(prices)" in _ran(seen, "shop.py", tree)


def test_a_library_of_the_system_that_is_not_there(tmp_path: Path) -> None:
    pdf = """
        import ctypes
        ctypes.CDLL("libnothere-2.0.so.0")
        HTML = Base = Failure = page_size = None
    """
    site = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/nothere"
    layer = lay_tree(tmp_path / "p", {f"{site}/__init__.py": "from . import pdf", f"{site}/pdf.py": pdf})
    beside = {"test_beside.py": "def test_one():\n    assert 1\n"}
    tree = lay_tree(tmp_path / "t", {"shop.py": SHOP, "test_shop.py": TESTS, **beside})
    item: dict[str, Any] = {"do": "import", "module": "shop", "path": "shop.py", "calls": ["total"]}
    seen = drive(tree, {"items": [item], "lines": LINES, "seconds": 60}, dependencies=layer).item
    assert (seen["outcome"], seen["exception"], seen["lacks"]) == ("exception", "OSError", "nothere")
    assert "return sum(prices)" in _ran(seen, "shop.py", tree)
    item = {"do": "test", "paths": ["test_shop.py", "test_beside.py"]}
    seen = drive(tree, {"items": [item], "lines": LINES, "seconds": 60}, dependencies=layer).item
    assert (seen["outcome"], seen["tests"]["passed"]) == ("completed", 1)
    assert "assert shop.total([1, 2]) == 3" in _ran(seen, "test_shop.py", tree)


def test_an_error_of_the_trees_own_is_no_missing_package(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t", {"shop.py": "import cart", "cart.py": "raise OSError('cannot load library')"}
    )
    seen = drive(
        tree,
        {"items": [{"do": "import", "module": "shop", "path": "shop.py"}], "lines": LINES, "seconds": 60},
    ).item
    assert "lacks" not in seen
    assert "put_off" not in seen
