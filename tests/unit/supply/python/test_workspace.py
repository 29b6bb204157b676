"""Projects of one tree that need each other."""

from __future__ import annotations

from typing import Any

from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.dependencies.needs import Needs, read_needs
from tests.unit.supply.python.trees import DictTree


def project(name: str, *needs: str, more: str = "") -> str:
    return f'[project]\nname = "{name}"\nversion = "1"\ndependencies = {list(needs)!r}\n{more}'


def needs_of(files: dict[str, str], tmp_path: Any, *changed: str) -> Needs:
    return read_needs(DictTree(files), changed or ("src/app/a.py",), "3.11.2", LayerStore(tmp_path))


LOCK = """
version = 1
requires-python = ">=3.11"

[[package]]
name = "app"
source = { editable = "." }
dependencies = [{ name = "app-types" }]

[package.dev-dependencies]
dev = [{ name = "ruff" }, { name = "pyright" }, { name = "examples-of-docs" }]

[[package]]
name = "app-types"
source = { editable = "src/app-types" }

[[package]]
name = "examples-of-docs"
version = "2.0"
source = { registry = "https://index.example/simple" }
dependencies = [{ name = "ruff" }]
sdist = { hash = "sha256:HASH" }

[[package]]
name = "ruff"
version = "0.15"
source = { registry = "https://index.example/simple" }
sdist = { hash = "sha256:HASH" }

[[package]]
name = "pyright"
version = "1.1"
source = { registry = "https://index.example/simple" }
sdist = { hash = "sha256:HASH" }
""".replace("HASH", "ab" * 32)


def test_members_of_a_workspace_are_on_the_path_and_have_metadata(tmp_path: Any) -> None:
    needs = needs_of(
        {
            "pyproject.toml": project("app", "app-types"),
            "uv.lock": LOCK,
            "src/app/a.py": "",
            "src/app-types/pyproject.toml": project("app-types"),
            "src/app-types/app_types/__init__.py": "",
        },
        tmp_path,
    )
    assert [each.folder for each in needs.projects] == [".", "src/app-types"]
    own = needs.own("3.11")
    assert b"/src/app-types\n" in own["lib/python3.11/site-packages/__editable__.gate.pth"]
    assert any("app_types-1.dist-info" in name for name in own)


def test_a_tool_is_installed_only_where_another_package_depends_on_it(tmp_path: Any) -> None:
    needs = needs_of({"pyproject.toml": project("app"), "uv.lock": LOCK}, tmp_path, "a.py")
    names = [line.split("==")[0] for line in needs.merged.lines]
    assert sorted(names) == ["examples-of-docs", "ruff"]


def test_a_package_beside_it_is_taken_from_the_tree_with_what_it_needs(tmp_path: Any) -> None:
    needs = needs_of(
        {
            "apps/web/pyproject.toml": project("web", "flask", "shared-lib"),
            "apps/web/web.py": "",
            "libs/shared/pyproject.toml": project("Shared_Lib", "attrs", "deeper"),
            "libs/shared/src/shared_lib/__init__.py": "",
            "libs/deeper/pyproject.toml": project("deeper", "rich"),
            "libs/other/pyproject.toml": project("other", "numpy"),
        },
        tmp_path,
        "apps/web/web.py",
    )
    assert [each.folder for each in needs.projects] == ["apps/web", "libs/shared", "libs/deeper"]
    assert needs.merged.lines == ("flask", "attrs", "rich")


def test_a_fixture_with_the_name_of_a_real_package_is_none(tmp_path: Any) -> None:
    needs = needs_of(
        {
            "pyproject.toml": project("app", "attrs"),
            "app.py": "",
            "tests/fixtures/attrs/pyproject.toml": project("attrs", "evil"),
        },
        tmp_path,
        "app.py",
    )
    assert needs.merged.lines == ("attrs",)


def test_two_that_need_each_other_end(tmp_path: Any) -> None:
    files = {"a/pyproject.toml": project("a", "b"), "b/pyproject.toml": project("b", "a"), "a/a.py": ""}
    assert needs_of(files, tmp_path, "a/a.py").merged.lines == ()
