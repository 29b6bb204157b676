"""A module names a package only where that package is one of the most used ones."""

from __future__ import annotations

from packaging.utils import canonicalize_name

from gate.plan.python_source import imported_modules
from gate.supply.lookalike import is_known
from gate.supply.python.undeclared import distribution_of, distributions, packages_of
from tests.unit.supply.python.trees import DictTree


def test_every_name_of_the_table_is_a_known_package_with_another_name() -> None:
    for module, name in distributions().items():
        assert is_known(name, "pypi"), name
        assert canonicalize_name(module) != name


def test_well_known_packages_only() -> None:
    modules = {
        "os",
        "flask",
        "flask_sqlalchemy",
        "yaml",
        "PIL",
        "nobody_knows_this",
        "config",
        "google",
        "imp",
    }
    assert packages_of(modules) == ("flask", "flask-sqlalchemy", "pillow", "pyyaml")


def test_a_module_is_a_package_of_its_own_name_else() -> None:
    assert (distribution_of("jwt"), distribution_of("Flask_WTF")) == ("pyjwt", "flask-wtf")


def test_a_tree_imports_what_is_not_its_own() -> None:
    tree = DictTree(
        {
            "web/app.py": "import flask\nfrom web.models import User\nfrom . import views\nimport helpers\n",
            "web/models.py": "def f():\n    import sqlalchemy.orm\n",
            "tools/helpers.py": "import json\n",
            "shop/__init__.py": "",
            "main.py": "import shop, web\n",
            "broken.py": "import (\n",
            "notes.txt": "import numpy\n",
        }
    )
    assert imported_modules(tree) == {"flask", "sqlalchemy", "json"}
