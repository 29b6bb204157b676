"""Only code that a file itself compiles to is believed to be from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import imported, lay_tree

CART = """
    import os


    def total(values):
        return sum(values)


    def clean(path):
        os.system("true " + path)
    """
FORGED = """
    import sys
    {base}/shop/cart.py" if False else sys.modules[__name__].__file__.replace("warm", "cart")


    def stand_in(path):
        x = 1
        return x

    CODE = stand_in.__code__.replace(co_filename=NAME, co_firstlineno=8, co_name="clean")
    stand_in.__code__ = CODE
    stand_in("x")
    """
WATCH = {"shop/cart.py": [[1, 20]]}
ASKED = {"shop/cart.py": [[9, 4, 9, 29, "call"]]}


def lay(folder: Path) -> Path:
    forged = FORGED.replace('{base}/shop/cart.py" if False else ', "NAME = ")
    return lay_tree(folder / "t", {"shop/__init__.py": "", "shop/cart.py": CART, "shop/warm.py": forged})


@pytest.mark.slow
def test_code_that_says_it_is_from_elsewhere_is_not_believed(tmp_path: Path) -> None:
    seen = imported(lay(tmp_path), "shop.warm", [], lines=WATCH, acts=ASKED)
    assert seen.item["outcome"] == "completed"
    assert not seen.item.get("lines")
    assert seen.item["acted"] == {"shop/cart.py": []}


@pytest.mark.slow
def test_its_own_code_is(tmp_path: Path) -> None:
    seen = imported(lay(tmp_path), "shop.cart", ["clean"], lines=WATCH, acts=ASKED)
    assert 9 in seen.item["lines"]["shop/cart.py"]
    assert seen.item["acted"] == {"shop/cart.py": [0]}
    assert 9 in seen.item["witnessed"]["process"]["shop/cart.py"]
    assert seen.item["code"]["shop/cart.py"] == [1, 4, 5, 8, 9]


@pytest.mark.slow
def test_what_is_handed_on_and_read_is_told_by_its_load(tmp_path: Path) -> None:
    text = """
        import os

        def run(paths, live=False):
            list(map(os.system, paths))
            return live and os.environ


        def rest():
            return [lambda: os.environ]

        run(['true'])
        rest()
        """
    places = [[4, 13, 4, 22, "hand"], [5, 20, 5, 30, "read"], [9, 20, 9, 30, "read"]]
    tree = lay_tree(tmp_path / "t", {"shop/__init__.py": "", "shop/cart.py": text})
    seen = imported(tree, "shop.cart", [], lines=WATCH, acts={"shop/cart.py": places})
    assert seen.item["acted"] == {"shop/cart.py": [0]}
    assert 4 in seen.item["witnessed"]["process"]["shop/cart.py"]
