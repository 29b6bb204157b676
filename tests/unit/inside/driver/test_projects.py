"""Projects of real frameworks: set up as by their own commands, tested by their own runner, asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.inside.driver.harness import Driven, drive, lay_tree

DJANGO = {
    "manage.py": "import os\n\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site_a.settings')\n",
    "site_a/__init__.py": "",
    "site_a/settings.py": """
SECRET_KEY = "x"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "HOST": "db.invalid", "NAME": "x"}}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://r.invalid"}}
ROOT_URLCONF = "site_a.urls"
ALLOWED_HOSTS = ["*"]
USE_TZ = True
""",
    "site_a/urls.py": """
from django.urls import path
from shop import views

urlpatterns = [path("item/<int:number>/", views.item)]
""",
    "shop/__init__.py": "",
    "shop/models.py": """
from django.db import models


class Item(models.Model):
    name = models.CharField(max_length=10)
""",
    "shop/views.py": """
from django.contrib.auth.decorators import permission_required
from django.http import HttpResponse

from shop.models import Item


def gone(function):
    def refuse(request, **kwargs):
        return HttpResponse("no", status=403)

    return refuse


def item(request, number):
    made = Item.objects.create(name="a")
    if number == 1:
        return HttpResponse("by its route")
    return HttpResponse("else")


@permission_required("shop.nobody_has_it")
def secret(request):
    Item.objects.count()
    return HttpResponse("behind its decorators")
""",
    "shop/tests/__init__.py": "",
    "shop/tests/test_item.py": """
from django.core.cache import cache
from django.test import TestCase

from shop.models import Item


class ItemTests(TestCase):
    def test_made(self):
        Item.objects.create(name="b")
        cache.set("a", 1)
        self.assertEqual(Item.objects.count(), 1)
        self.assertEqual(self.client.get("/item/1/").status_code, 200)
""",
}


def lines_of(seen: Driven, path: str) -> set[int]:
    """Which of the watched lines ran."""
    return set(seen.item.get("lines", {}).get(path, ()))


def line(files: dict[str, str], path: str, text: str) -> int:
    """The number of the first line that holds the text."""
    return next(n for n, one in enumerate(files[path].lstrip("\n").split("\n"), 1) if text in one)


def watched(files: dict[str, str], path: str) -> dict[str, Any]:
    return {path: [[1, files[path].count("\n") + 1]]}


def test_django_tests_run_by_its_own_runner_without_the_services_of_the_settings(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", DJANGO)
    path = "shop/tests/test_item.py"
    item = {"do": "test", "paths": [path], "django": "manage.py"}
    seen = drive(tree, {"items": [item], "seconds": 60, "lines": watched(DJANGO, path)})
    assert seen.item["tests"] == {"passed": 1, "failed": 0}
    assert line(DJANGO, path, "status_code") in lines_of(seen, path)


def test_a_django_test_that_cannot_be_imported_is_told(tmp_path: Path) -> None:
    files = {**DJANGO, "shop/tests/test_bad.py": "import nothere_at_all\n"}
    tree = lay_tree(tmp_path / "t", files)
    item = {"do": "test", "paths": ["shop/tests/test_bad.py"], "django": "manage.py"}
    seen = drive(tree, {"items": [item], "seconds": 60})
    assert (seen.item["outcome"], seen.item["missing"]) == ("missing", "nothere_at_all")


def test_django_views_are_reached_by_their_routes_and_behind_their_decorators(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", DJANGO)
    path = "shop/views.py"
    item = {"do": "import", "module": "shop.views", "path": path, "calls": ["item", "secret"]}
    item["django"] = "manage.py"
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(DJANGO, path)})
    ran = lines_of(seen, path)
    assert line(DJANGO, path, "by its route") in ran
    assert line(DJANGO, path, "behind its decorators") in ran


@pytest.mark.parametrize("place", ["site_a/settings.py", "site_a/settings/test.py"])
def test_settings_that_only_a_variable_names_are_found_by_their_place(place: str, tmp_path: Path) -> None:
    files = {**DJANGO, "manage.py": "from django.core.management import execute_from_command_line\n"}
    text = files.pop("site_a/settings.py")
    if place != "site_a/settings.py":
        files |= {"site_a/settings/__init__.py": "", "site_a/settings/base.py": text}
        files["site_a/settings/production.py"] = "from .base import *\nimport not_in_tests\n"
        text = "from .base import *\n"
    files[place] = text
    path = "shop/tests/test_item.py"
    item: dict[str, Any] = {"do": "test", "paths": [path], "django": "manage.py"}
    seen = drive(lay_tree(tmp_path / "t", files), {"items": [item], "seconds": 60})
    assert seen.item["tests"] == {"passed": 1, "failed": 0}
    item = {"do": "import", "module": "shop.models", "path": "shop/models.py", "django": "manage.py"}
    seen = drive(lay_tree(tmp_path / "u", files), {"items": [item], "seconds": 60})
    assert seen.item["outcome"] == "completed"


QUEUE = "import os, sqlite3\n\nhere = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))\n"
LOGS = """
LOGGING = {"version": 1, "root": {"handlers": ["file"]},
           "handlers": {"file": {"class": "logging.FileHandler", "filename": "var/log/a.log"}}}
"""
CLONES = {
    "database": {"queue_a/__init__.py": QUEUE + 'sqlite3.connect(os.path.join(here, "data", "q.sqlite3"))\n'},
    "log": {"queue_a/__init__.py": "", "site_a/settings.py": DJANGO["site_a/settings.py"] + LOGS},
}


@pytest.mark.parametrize("which", CLONES)
def test_folders_that_no_clone_has_are_made_where_django_does_not_start_without(
    which: str, tmp_path: Path
) -> None:
    files = {**DJANGO, **CLONES[which]}
    files["site_a/settings.py"] += '\nINSTALLED_APPS.append("queue_a")\n'
    path = "shop/tests/test_item.py"
    item = {"do": "test", "paths": [path], "django": "manage.py"}
    seen = drive(
        lay_tree(tmp_path / "t", files), {"items": [item], "seconds": 60, "lines": watched(files, path)}
    )
    assert seen.item["tests"] == {"passed": 1, "failed": 0}
    item = {"do": "import", "module": "shop.models", "path": "shop/models.py", "django": "manage.py"}
    seen = drive(lay_tree(tmp_path / "u", files), {"items": [item], "seconds": 60})
    assert seen.item["outcome"] == "completed"


@pytest.mark.parametrize(
    ("line", "outcome", "told"),
    [
        ("import nothere_at_all", "missing", "nothere_at_all"),
        ("raise ValueError('the licence is gone')", "exception", "the licence is gone"),
    ],
)
def test_why_django_did_not_start_is_told_and_not_what_came_of_it(
    line: str, outcome: str, told: str, tmp_path: Path
) -> None:
    files = {**DJANGO, "queue_a/__init__.py": f"{line}\n"}
    files["site_a/settings.py"] += '\nINSTALLED_APPS.append("queue_a")\n'
    item = {"do": "import", "module": "shop.models", "path": "shop/models.py", "django": "manage.py"}
    seen = drive(lay_tree(tmp_path / "t", files), {"items": [item], "seconds": 60})
    assert told in str(seen.item)
    assert outcome in (seen.item["outcome"], "exception")
    path = "shop/tests/test_item.py"
    tests: dict[str, Any] = {"do": "test", "paths": [path], "django": "manage.py"}
    seen = drive(lay_tree(tmp_path / "u", files), {"items": [tests], "seconds": 60})
    assert told in str(seen.item)
    assert "reentrant" not in str(seen.item)


def test_no_folder_is_made_outside_the_tree_or_for_code_that_loads(tmp_path: Path) -> None:
    outside = str(tmp_path / "o" / "x")
    text = f"try:\n    open('data/x')\nexcept OSError:\n    pass\nopen({outside!r}, 'w')\n"
    files = {"a.py": text}
    tree = lay_tree(tmp_path / "t", files)
    seen = drive(tree, {"items": [{"do": "import", "module": "a", "path": "a.py"}]})
    assert seen.item["exception"] == "FileNotFoundError"
    assert not (tmp_path / "o").exists()
    assert not (tree / "data").exists()


def test_another_program_by_that_name_is_no_django_project(tmp_path: Path) -> None:
    files = {"manage.py": "print('mine')\n", "a.py": "def f():\n    return 1\n"}
    tree = lay_tree(tmp_path / "t", files)
    item = {"do": "import", "module": "a", "path": "a.py", "calls": ["f"], "django": "manage.py"}
    seen = drive(tree, {"items": [item], "lines": watched(files, "a.py")})
    assert lines_of(seen, "a.py") == {1, 2}


FLASK = {
    "shop/__init__.py": """
from flask import Flask


def create_app():
    app = Flask(__name__)
    with app.app_context():
        from shop import views

        app.register_blueprint(views.pages)
    return app
""",
    "shop/views.py": """
from flask import Blueprint, abort, current_app, request

NAME = current_app.name
pages = Blueprint("pages", __name__)


def admins_only(function):
    from functools import wraps

    @wraps(function)
    def asking(*args, **kwargs):
        if not request.headers.get("X-Admin"):
            abort(403)
        return function(*args, **kwargs)

    return asking


@pages.route("/item/<int:number>", methods=["POST"])
def item(number):
    if request.method == "POST" and request.path == "/item/1":
        return "by its route"
    return "else"


@pages.route("/secret")
@admins_only
def secret():
    return "behind its decorators"
""",
}


def test_a_flask_module_that_wants_its_application_gets_it(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", FLASK)
    path = "shop/views.py"
    item = {"do": "import", "module": "shop.views", "path": path, "calls": ["item", "secret"]}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(FLASK, path)})
    assert seen.item["outcome"] == "completed", seen.item
    ran = lines_of(seen, path)
    assert line(FLASK, path, "by its route") in ran
    assert line(FLASK, path, "behind its decorators") in ran


def test_the_application_is_made_on_the_side_that_lacks_a_new_module(tmp_path: Path) -> None:
    made = FLASK["shop/__init__.py"].replace(
        "    return app", "    open('made', 'w').close()\n    return app"
    )
    tree = lay_tree(tmp_path / "t", {"shop/__init__.py": made, "shop/views.py": FLASK["shop/views.py"]})
    item = {"do": "import", "module": "shop.new", "path": "shop/new.py", "calls": ["f"]}
    assert drive(tree, {"items": [item], "seconds": 60}).item["outcome"] == "absent"
    assert (tree / "made").exists()


ASGI = {
    "shop/__init__.py": "",
    "shop/main.py": """
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from shop import pages

app = Starlette(routes=[Mount("/api", routes=[Route("/item/{number:int}", pages.item, methods=["PUT"])])])
""",
    "shop/pages.py": """
from starlette.responses import PlainTextResponse


async def item(request):
    if request.path_params["number"] == 1 and (await request.json()):
        return PlainTextResponse("by its route")
    return PlainTextResponse("else")
""",
}


def test_a_starlette_endpoint_is_asked_through_its_application(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", ASGI)
    path = "shop/pages.py"
    item = {"do": "import", "module": "shop.pages", "path": path, "calls": ["item"]}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(ASGI, path)})
    assert line(ASGI, path, "by its route") in lines_of(seen, path)


INCLUDED = {
    **ASGI,
    "shop/main.py": """
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Match, Route

from shop import pages


class Included(BaseRoute):
    '''As FastAPI keeps a router that is included: no path, no routes of its own.'''

    def __init__(self, *held):
        self.held = held

    def effective_candidates(self):
        return list(self.held)

    def matches(self, scope):
        inner = [one.matches(scope) for one in self.held]
        return next((one for one in inner if one[0] is Match.FULL), (Match.NONE, {}))

    async def handle(self, scope, receive, send):
        for one in self.held:
            if one.matches(scope)[0] is Match.FULL:
                await one.handle(scope, receive, send)


app = Starlette(routes=[Included(Included(Route("/api/item/{number:int}", pages.item, methods=["PUT"])))])
""",
}


def test_an_endpoint_of_an_included_router_is_asked_through_its_application(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", INCLUDED)
    path = "shop/pages.py"
    item = {"do": "import", "module": "shop.pages", "path": path, "calls": ["item"]}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(INCLUDED, path)})
    assert line(INCLUDED, path, "by its route") in lines_of(seen, path)


MODELS = {
    "shop.py": """
import dataclasses
import typing

import pydantic


@dataclasses.dataclass
class Place:
    street: str


class Line(pydantic.BaseModel):
    count: int
    place: Place


class Extra(typing.TypedDict):
    note: str


def total(line: Line, extra: Extra):
    if line.count + 1 and line.place.street and isinstance(line, Line) and isinstance(extra["note"], str):
        return "built from its fields"
    return None
"""
}


def test_models_are_built_from_their_fields(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", MODELS)
    item = {"do": "import", "module": "shop", "path": "shop.py", "calls": ["total"]}
    seen = drive(tree, {"items": [item], "each": 10.0, "lines": watched(MODELS, "shop.py")})
    assert line(MODELS, "shop.py", "built from") in lines_of(seen, "shop.py")


ASYNC = {
    "shop.py": """
async def read(db: "Session", name):
    async with db.begin() as inner:
        found = await inner.execute(name)
    async for row in found.rows():
        return "to its end"
"""
}


def test_what_is_awaited_of_an_unknown_object_goes_on(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", ASYNC)
    item = {"do": "import", "module": "shop", "path": "shop.py", "calls": ["read"]}
    seen = drive(tree, {"items": [item], "each": 10.0, "lines": watched(ASYNC, "shop.py")})
    assert line(ASYNC, "shop.py", "to its end") in lines_of(seen, "shop.py")


SETTINGS = {
    ".env.example": "# what it needs\nexport SHOP_KEY='abc'\nSHOP_DB=postgres://db.invalid/x\n",
    "shop.py": """
import os

KEY = os.environ["SHOP_KEY"]
DATABASE = os.environ.get("SHOP_DB", "sqlite://")


def key():
    return KEY == "abc" and DATABASE == "sqlite://"
""",
    "tests/conftest.py": "import shop\n",
    "tests/test_shop.py": "import shop\n\n\ndef test_key():\n    assert shop.key()\n",
}


def test_variables_of_the_example_are_set_where_the_code_cannot_be_loaded_without(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", SETTINGS)
    call = {"do": "import", "module": "shop", "path": "shop.py", "calls": ["key"], "env": ".env.example"}
    tests = {"do": "test", "paths": ["tests/test_shop.py"], "env": ".env.example"}
    assert drive(tree, {"items": [call]}).calls == {"key": "returned"}
    assert drive(tree, {"items": [tests]}).item["tests"] == {"passed": 1}


MISSING = {
    "plain.py": "import os\n\nKEY = os.environ['SHOP_KEY'], os.environ['SHOP_PORT']\n",
    "told.py": """
import os

for name in ("SHOP_ONE", "SHOP_TWO"):
    if name not in os.environ:
        raise ValueError(f"the environment variable {name} must be set")
""",
    "model.py": """
import os

import pydantic


class Settings(pydantic.BaseModel):
    secret_key: str
    port: int


settings = Settings(**{k.lower(): v for k, v in os.environ.items() if k.lower() in Settings.model_fields})
""",
    "other.py": "{}['SHOP_KEY']\n",
}


@pytest.mark.parametrize("name", ["plain", "told", "model"])
def test_variables_that_are_missed_by_name_are_set(name: str, tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", MISSING)
    item = {"do": "import", "module": name, "path": f"{name}.py"}
    assert drive(tree, {"items": [item]}).item["outcome"] == "completed"


def test_a_key_that_is_no_variable_is_still_missing(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", MISSING)
    item = {"do": "import", "module": "other", "path": "other.py"}
    assert drive(tree, {"items": [item]}).item["exception"] == "KeyError"


ENV_FILE = {
    "shop.py": """
import os

if not os.path.isfile("conf/.env"):
    raise FileNotFoundError(f"Config file '{os.path.abspath('conf/.env')}' not found.")
with open("conf/.env") as file:
    TEXT = file.read()


def text():
    return TEXT
"""
}


def test_an_env_file_that_is_not_in_the_tree_is_an_empty_one(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", ENV_FILE)
    call = {"do": "import", "module": "shop", "path": "shop.py", "calls": ["text"]}
    assert drive(tree, {"items": [call]}).calls == {"text": "returned"}
    assert not (tree / "conf").exists()
