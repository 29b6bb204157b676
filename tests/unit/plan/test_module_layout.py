"""Names of modules, told from paths alone."""

from __future__ import annotations

import pytest

from gate.plan.module_layout import module_of


@pytest.mark.parametrize(
    ("path", "packages", "name", "root"),
    [
        ("src/shop/cart.py", {"src/shop"}, "shop.cart", "src"),
        ("src/shop/lib/chunk.py", {"src/shop"}, "shop.lib.chunk", "src"),
        ("src/shop/lib/deep/chunk.py", {"src/shop"}, "shop.lib.deep.chunk", "src"),
        ("shop/vendored/x/y.py", {"shop"}, "shop.vendored.x.y", "."),
        ("lib/shop/cart.py", {"lib/shop"}, "shop.cart", "lib"),
        ("lib/cart.py", set(), "cart", "lib"),
        ("work/src/shop/cart.py", {"work", "work/src/shop"}, "shop.cart", "work/src"),
        ("work/src/cart.py", {"work"}, "cart", "work/src"),
        ("shop/my-data/cart.py", {"shop"}, "cart", "shop/my-data"),
        ("tools/gen.py", set(), "tools.gen", "."),
    ],
)
def test_a_file_belongs_to_the_package_above_it(path: str, packages: set[str], name: str, root: str) -> None:
    module = module_of(path, {path, *(f"{folder}/__init__.py" for folder in packages)})
    assert (module.name, module.roots[0]) == (name, root)
