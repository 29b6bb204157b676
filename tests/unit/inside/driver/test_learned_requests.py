"""Handlers that go on only where a request has the fields that they look up, and rows are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.inside.driver.harness import drive, lay_tree
from tests.unit.inside.driver.test_projects import DJANGO, line, lines_of, watched

FLASK = {
    "shop/__init__.py": """
from flask import Flask


def create_app():
    app = Flask(__name__)
    from shop import views

    app.register_blueprint(views.pages)
    return app
""",
    "shop/views.py": """
from flask import Blueprint, jsonify, request

pages = Blueprint("pages", __name__)


@pages.route("/order", methods=["POST"])
def order():
    if "count" not in request.form:
        return "no count", 400
    count = int(request.form["count"])
    if request.form.get("action") == "cancel":
        return "it is cancelled"
    return f"{count} are ordered"


@pages.route("/note", methods=["POST"])
def note():
    said = request.get_json()
    if said["owner"]["mail"].endswith(".example"):
        return jsonify(ok="it is noted")
    return "no mail", 400


@pages.route("/find")
def find():
    if request.args.get("kind") in ("open", "closed"):
        return "by its kind"
    return "any"
""",
}


def test_fields_that_a_flask_handler_looks_up_are_given_and_compared_texts_tried(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", FLASK)
    path = "shop/views.py"
    item = {"do": "import", "module": "shop.views", "path": path, "calls": ["order", "note", "find"]}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(FLASK, path)})
    assert seen.item["outcome"] == "completed", seen.item
    ran = lines_of(seen, path)
    for text in ("are ordered", "it is cancelled", "it is noted", "by its kind"):
        assert line(FLASK, path, text) in ran, text


HELD = {
    **FLASK,
    "shop/views.py": """
from flask import Blueprint, abort, request

from shop.store import STORE, find

pages = Blueprint("pages", __name__)


@pages.get("/invoice/<int:number>")
def invoice(number):
    if find(number) is None:
        abort(404)
    return "the invoice"


@pages.get("/year/<int(fixed_digits=6):number>")
def year(number):
    if request.args.get("kind") == "leap":
        return "a year of six digits"
    return "any"


@pages.post("/shelf/<name>")
def shelf(name):
    if name not in STORE.shelves:
        abort(404)
    if request.form.get("act") == "close":
        return "the shelf is closed"
    return "the shelf"
""",
    "shop/store.py": """
class Invoice:
    def __init__(self, number):
        self.number = number


class Store:
    def __init__(self):
        self.shelves = {"upper": []}


STORE = Store()
INVOICES = [Invoice(4711), Invoice(4712)]


def find(number):
    return next((one for one in INVOICES if one.number == number), None)
""",
}


def test_what_an_application_holds_from_its_start_is_found_under_its_own_key(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", HELD)
    path = "shop/views.py"
    item = {"do": "import", "module": "shop.views", "path": path, "calls": ["invoice", "shelf", "year"]}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(HELD, path)})
    ran = lines_of(seen, path)
    for text in ("the invoice", "the shelf is closed", "of six digits"):
        assert line(HELD, path, text) in ran, text


AIOHTTP = {
    "shop.py": """
from aiohttp import web


async def order(request):
    form = await request.post()
    if form.get("action") == "cancel" and request.query.get("sure") is not None:
        return web.Response(text="it is cancelled")
    return web.Response(text="nothing")


def make_app():
    app = web.Application()
    app.router.add_post("/order", order)
    return app
""",
}


def test_a_handler_of_aiohttp_is_asked_with_its_fields(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", AIOHTTP)
    item = {"do": "import", "module": "shop", "path": "shop.py", "calls": ["order"]}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(AIOHTTP, "shop.py")})
    assert line(AIOHTTP, "shop.py", "it is cancelled") in lines_of(seen, "shop.py")


ROWS = {
    **DJANGO,
    "shop/models.py": """
import uuid

from django.conf import settings
from django.db import models


class Shelf(models.Model):
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    opened = models.DateTimeField()
    is_deleted = models.BooleanField()


class Item(models.Model):
    name = models.CharField(max_length=10, unique=True)
    state = models.CharField(max_length=9, choices=[("sold", "Sold"), ("kept", "Kept")])
    code = models.UUIDField()
    price = models.DecimalField(max_digits=6, decimal_places=2)
    shelf = models.ForeignKey(Shelf, on_delete=models.CASCADE)

    def save(self, *args, **kwargs):
        raise RuntimeError("nobody saves")
""",
    "shop/views.py": """
from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from shop.models import Item


def item(request, number):
    found = get_object_or_404(Item, pk=number, shelf__is_deleted=False)
    if found.shelf.owner == request.user and request.POST.get("mark") == "sold":
        return HttpResponse("its owner sells it")
    return HttpResponse("it is there")
""",
}


def test_a_django_view_finds_an_object_of_the_user_who_asks(tmp_path: Path) -> None:
    files = {
        **ROWS,
        "site_a/settings.py": DJANGO["site_a/settings.py"] + "MIDDLEWARE = [\n"
        '    "django.contrib.sessions.middleware.SessionMiddleware",\n'
        '    "django.contrib.auth.middleware.AuthenticationMiddleware",\n]\n'
        'SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"\n',
    }
    tree = lay_tree(tmp_path / "t", files)
    path = "shop/views.py"
    item: dict[str, Any] = {
        "do": "import",
        "module": "shop.views",
        "path": path,
        "django": "manage.py",
        "calls": ["item"],
    }
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(files, path)})
    assert seen.item["outcome"] == "completed", seen.item
    ran = lines_of(seen, path)
    assert line(files, path, "it is there") in ran
    assert line(files, path, "its owner sells it") in ran


FORMS = {
    **DJANGO,
    "shop/forms.py": """
from django import forms

from shop.models import Item


class ItemForm(forms.ModelForm):
    kind = forms.ChoiceField(choices=[("", "none"), ("All", [("film", "Film"), ("book", "Book")])])
    seen = forms.DateField()
    mail = forms.EmailField()
    parts = forms.IntegerField(min_value=7)
    code = forms.RegexField("^[A-Z]{2}-[0-9]+$")
    like = forms.ModelChoiceField(Item.objects.all())

    class Meta:
        model = Item
        fields = ["name"]
""",
    "shop/views.py": """
from django.http import HttpResponse

from shop.forms import ItemForm


def item(request, number):
    form = ItemForm(request.POST)
    if form.is_valid():
        made = form.save()
        return HttpResponse("it is added")
    return HttpResponse("no")
""",
}


def test_the_forms_of_a_django_view_are_filled(tmp_path: Path) -> None:
    pytest.importorskip("django")
    tree = lay_tree(tmp_path / "t", FORMS)
    path = "shop/views.py"
    item = {"do": "import", "module": "shop.views", "path": path, "calls": ["item"], "django": "manage.py"}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(FORMS, path)})
    assert line(FORMS, path, "it is added") in lines_of(seen, path), seen.item


def test_a_handler_that_ends_the_process_or_never_ends_costs_no_other_call(tmp_path: Path) -> None:
    files = {
        **FLASK,
        "shop/views.py": FLASK["shop/views.py"]
        .replace('return "no count", 400', "import sys; sys.exit(3)")
        .replace('return "any"', "while True: pass"),
    }
    tree = lay_tree(tmp_path / "t", files)
    path = "shop/views.py"
    item = {"do": "import", "module": "shop.views", "path": path, "calls": ["order", "find", "note"]}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 1.0, "lines": watched(files, path)})
    assert line(files, path, "it is noted") in lines_of(seen, path)


@pytest.mark.parametrize(
    ("name", "value"), [("is_active", True), ("is_deleted", False), ("locked_out", False)]
)
def test_flags_are_those_of_a_row_that_is_in_use(name: str, value: bool) -> None:
    from gate.inside.driver import sample_rows

    assert sample_rows.value_of(name, bool, None) is value


def test_code_without_a_web_application_pays_for_no_import(tmp_path: Path) -> None:
    text = "def {}():\n    return 'asyncio' in __import__('sys').modules and 1 / 0\n"
    tree = lay_tree(tmp_path / "t", {"plain.py": text.format("first") + text.format("second")})
    item = {"do": "import", "module": "plain", "path": "plain.py", "calls": ["first", "second"]}
    seen = drive(tree, {"items": [item], "seconds": 30})
    assert seen.calls == {"first": "returned", "second": "returned"}
