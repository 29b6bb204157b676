"""Which checks on the way to a sink the forward reading takes for one, and which it does not."""

from __future__ import annotations

import pytest

from gate.prescreen.python_ast.scanner import hits, parse, severity_of

_LISTED = """
import subprocess
from flask import Flask, request
{start}
app = Flask(__name__)


@app.get("/x")
def x():
    name = request.args["name"]
    if name not in {known}:
        return "no"
    return subprocess.getoutput("ls " + name)
"""
_PLACED = """
from pathlib import Path
from fastapi import FastAPI, HTTPException
from fastapi.responses import FileResponse
app = FastAPI()
PAGES = Path(__file__).parent / "pages"


def page_of(name):
    page = PAGES.joinpath(name){resolved}
    if {test}:
        raise HTTPException(404)
    return page


@app.get("/m/{{name:path}}")
async def show(name: str):
    page = page_of(name)
    if not page.is_file():
        raise HTTPException(404)
    return FileResponse(page)
"""


def _told(text: str, rule: str) -> str:
    """The severity of that rule's finding; empty for none."""
    module = parse("app.py", text.encode())
    return next((severity_of(module, r, hit).value for r, hit in hits(module) if r.meta.id == rule), "")


@pytest.mark.parametrize(
    ("start", "known"),
    [
        ("NAMES = ('a', 'b')", "NAMES"),
        ("NAMES = frozenset({'a'})", "NAMES"),
        ("NAMES = {'a': 1}", "NAMES"),
        ("from django.conf import settings", "settings.NAMES"),
        ("", "app.config['NAMES']"),
    ],
)
def test_a_list_that_the_program_chose_is_a_check(start: str, known: str) -> None:
    assert _told(_LISTED.format(start=start, known=known), "py.shell-command") == "low"


@pytest.mark.parametrize(
    ("start", "known"),
    [
        ("", "NAMES"),
        ("from shop.lists import NAMES", "NAMES"),
        ("NAMES = load()", "NAMES"),
        ("import shop", "shop.NAMES"),
        ("", "request.args['list']"),
    ],
)
def test_a_list_that_nobody_knows_is_none(start: str, known: str) -> None:
    assert _told(_LISTED.format(start=start, known=known), "py.shell-command") == "high"


@pytest.mark.parametrize("test", ["PAGES.resolve() not in page.parents", "not page.is_relative_to(PAGES)"])
def test_a_resolved_path_below_a_folder_is_harmless(test: str) -> None:
    assert _told(_PLACED.format(resolved=".resolve()", test=test), "py.path-from-request") == "low"


@pytest.mark.parametrize("test", ["PAGES.resolve() not in page.parents", "not page.exists()"])
def test_an_unresolved_path_is_not(test: str) -> None:
    assert _told(_PLACED.format(resolved="", test=test), "py.path-from-request") == "high"


def test_a_query_that_a_function_puts_together_is_put_together() -> None:
    text = """
from django.db import connection


def query(term):
    return f"SELECT id FROM customer WHERE name = '{term}'"


def find(request):
    with connection.cursor() as cursor:
        cursor.execute(query(request.GET["q"]))
"""
    assert _told(text, "py.sql-built") == "high"
    constant = text.replace("'{term}'", "%s").replace('query(request.GET["q"])', "query(1)")
    assert _told(constant, "py.sql-built") == ""


@pytest.mark.parametrize(
    ("line", "level"),
    [("return validate(name)", ""), ("raise ValueError(name)", "medium")],
)
def test_an_exception_that_others_raise_is_no_text_of_the_request(line: str, level: str) -> None:
    text = f"""
import logging
from flask import Flask, request
log = logging.getLogger(__name__)
app = Flask(__name__)


@app.post("/x")
def x():
    name = request.args["name"]
    try:
        {line}
    except ValueError as error:
        log.error(f"it went wrong: {{error}}")
        return "no"
"""
    assert _told(text, "py.log-injection") == level


@pytest.mark.parametrize(
    ("rules", "level"),
    [
        (["/item/<int:place>/file"], ""),
        (["/item/<int(min=1):place>", "/other/<uuid:place>"], ""),
        (["/item/<int:place>", "/by-name/<place>"], "high"),
        (["/item/<path:place>"], "high"),
    ],
)
def test_a_number_of_an_address_is_no_text(rules: list[str], level: str) -> None:
    routes = "\n".join(f'@app.route("{rule}")' for rule in rules)
    text = f"""
import flask
app = flask.Flask(__name__)


{routes}
def show(place):
    return flask.send_file(find(place))
"""
    assert _told(text, "py.path-from-request") == level
