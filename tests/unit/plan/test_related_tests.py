"""Which tests are run for a change, in which order, and from which project's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.plan.probes import job_of
from gate.plan.project_layout import example_of, folder_of, manage_of
from tests.e2e.pulls import FileMap
from tests.unit.plan.planned import Plan, planned

VIEWS = "def update_name(request, code):\n    return 1\n\n\ndef other_view(request):\n    return 2\n"


def paths_run(plan: Plan) -> list[list[str]]:
    return [item["paths"] for p in plan.probes if p.phase == "test" for item in job_of(p)["items"]]


def test_a_test_is_chosen_by_the_words_of_what_changed(tmp_path: Path) -> None:
    base: FileMap = {
        "front/__init__.py": "",
        "front/views.py": VIEWS,
        "front/tests/test_update_name.py": "def test_a(client):\n    client.post('/1/name/')\n",
        "front/tests/test_names.py": "URL = 'update_name'\ndef test_b():\n    pass\n",
        "front/tests/test_far.py": "def test_c(client):\n    client.get('/other_view/')\n",
    }
    head: FileMap = {"front/views.py": VIEWS.replace("return 1", "return 3")}
    assert paths_run(planned(tmp_path, head, base)) == [
        ["front/tests/test_update_name.py", "front/tests/test_names.py"]
    ]


@pytest.mark.parametrize(
    ("path", "text", "test"),
    [
        ("api/views.py", VIEWS.replace("return 2", "return 3"), "api/tests.py"),
        ("core/forms.py", "A = 2\n", "core/tests/tests_forms.py"),  # by its name
        ("core/models.py", "A = 2\n", "core/tests/tests_forms.py"),
    ],
)
def test_where_no_test_names_what_changed_those_of_its_folder_are_run(
    path: str, text: str, test: str, tmp_path: Path
) -> None:
    base: FileMap = {
        "api/__init__.py": "",
        "api/views.py": VIEWS,
        "api/tests.py": "def test_a(client):\n    client.post('/1/')\n",
        "core/tests/tests_forms.py": "def test_b():\n    pass\n",
        "core/forms.py": "A = 1\n",
        "core/models.py": "A = 1\n",
    }
    assert paths_run(planned(tmp_path, {path: text}, base)) == [[test]]


def test_a_word_that_all_tests_say_chooses_none(tmp_path: Path) -> None:
    base: FileMap = {
        **{f"tests/test_{n}.py": "from web import create\n" for n in range(6)},
        "shop/__init__.py": "",
        "shop/cart.py": "def create():\n    return 1\n",
        "tests/test_cart.py": "def test_a():\n    pass\n",
    }
    head: FileMap = {"shop/cart.py": "def create():\n    return 2\n"}
    assert paths_run(planned(tmp_path, head, base)) == [["tests/test_cart.py"]]


def test_tests_of_two_projects_are_two_items_from_their_folders(tmp_path: Path) -> None:
    base: FileMap = {
        "api/pyproject.toml": "[project]\nname = 'api'\n",
        "api/test_a.py": "def test_a():\n    pass\n",
        "web/manage.py": "import os\n",
        "web/shop/test_b.py": "def test_b():\n    pass\n",
    }
    head: FileMap = {
        "api/test_a.py": "def test_a():\n    return\n",
        "web/shop/test_b.py": "def test_b():\n    return\n",
    }
    plan = planned(tmp_path, head, base)
    items = [item for p in plan.probes if p.phase == "test" for item in job_of(p)["items"]]
    told = {item["folder"]: (item["paths"], item.get("django"), item["roots"][0]) for item in items}
    assert told == {
        "api": (["api/test_a.py"], None, "api"),
        "web": (["web/shop/test_b.py"], "web/manage.py", "web"),
    }


def test_a_module_below_manage_py_is_called_in_its_project(tmp_path: Path) -> None:
    base: FileMap = {"web/manage.py": "import os\n", "web/shop/__init__.py": "", "web/shop/a.py": "A = 1\n"}
    plan = planned(tmp_path, {"web/shop/a.py": "def a():\n    return 1\n"}, base)
    told = {
        item.get("django")
        for p in plan.probes
        if p.phase in ("import", "call")
        for item in job_of(p)["items"]
    }
    assert told == {"web/manage.py"}


def test_calls_of_a_new_module_of_a_web_application_are_planned_at_base_too(tmp_path: Path) -> None:
    def sides(text: str, name: str) -> set[tuple[str, ...]]:
        (tmp_path / name).mkdir()
        plan = planned(
            tmp_path / name, {f"shop/{name}.py": text, "shop/__init__.py": ""}, {"shop/a.py": "A = 1\n"}
        )
        return {p.sides for p in plan.probes if p.phase == "call"}

    function = "def f():\n    return 1\n"
    assert sides("import flask\n" + function, "one") == {("base", "head")}
    assert sides(function, "two") == {("head",)}


def test_the_nearest_project_and_its_manage_py() -> None:
    files = {"pyproject.toml", "web/manage.py", "web/shop/views.py", "lib/a.py", "tests/demo/manage.py"}
    assert folder_of("web/shop/views.py", files) == "web"
    assert folder_of("lib/a.py", files) == "."
    assert manage_of("web/shop/views.py", files) == "web/manage.py"
    assert manage_of("lib/a.py", files) == "web/manage.py"
    assert manage_of("lib/a.py", {"lib/a.py"}) is None
    library = {"pyproject.toml", "filters/views.py", "runtests.py", "example/manage.py"}
    assert manage_of("filters/views.py", library) == "runtests.py"
    assert manage_of("filters/views.py", library - {"runtests.py"}) == "example/manage.py"
    assert manage_of("filters/views.py", library | {"server/manage.py"}) == "server/manage.py"


def test_a_file_that_has_no_module_name_is_loaded_by_its_path_and_called(tmp_path: Path) -> None:
    path = "migrations/versions/0a1_add.py"
    plan = planned(tmp_path, {path: "def upgrade():\n    return 1\n"})
    items = {p.phase: job_of(p)["items"][0] for p in plan.probes if p.phase != "idle"}
    assert {phase: item["do"] for phase, item in items.items()} == {"call": "file", "script": "script"}
    assert items["call"]["calls"] == ["upgrade"]


def test_a_module_called_setup_is_no_installation_unless_it_could_be_one(tmp_path: Path) -> None:
    base: FileMap = {"src/app/__init__.py": "", "lib/__init__.py": "", "lib/pyproject.toml": "[project]\n"}
    text = "def make():\n    return 1\n"
    head: FileMap = {"src/app/setup.py": text, "lib/setup.py": text, "setup.py": text}
    plan = planned(tmp_path, head, base)
    told = {item["path"]: item["do"] for p in plan.probes if p.phase != "idle" for item in job_of(p)["items"]}
    assert told == {"src/app/setup.py": "import", "lib/setup.py": "setup", "setup.py": "setup"}


def test_the_variables_of_a_project_are_in_an_example_else_in_what_its_tests_begin_with() -> None:
    files = {"shop/app.py", "tests/conftest.py", "web/.env.example", "web/app.py", "web/conftest.py"}
    assert example_of("shop/app.py", files) == "tests/conftest.py"
    assert example_of("web/app.py", files) == "web/.env.example"
    assert example_of("shop/app.js", files) is None
