"""The forward reading: other files of the tree, checks that a text went through, and what is not certain."""

from __future__ import annotations

import ast
import textwrap

import pytest

from gate.prescreen.interface import PrescreenRequest
from gate.prescreen.python_ast.imported_files import imported_files
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scanner import PyAst
from gate.prescreen.python_ast.values.checks import kept_out
from gate.prescreen.python_ast.values.reach import reach_of
from tests.prescreen_support import DictTree, make_request

HEAD = """
import re
from flask import Flask, request, abort
app = Flask(__name__)
@app.route("/x")
def page():
"""
TOOLS = """
class First:
    def do(self, text):
        return text


class Second:
    def do(self, text):
        return "fixed"


def doer(name):
    return First() if name == "first" else Second()


def neat(text):
    return text.strip()
"""
TREE = {"app/__init__.py": "", "app/tools.py": TOOLS}
SHELL = """
import os
from flask import Flask, request
from {origin} import doer, neat
app = Flask(__name__)
@app.route("/x")
def page():
    os.system("ls " + {value})
    return "done"
"""


def value_of(body: str, others: dict[str, str] | None = None) -> object:
    """Who decides the argument of ``sink``; None where it is not certain."""
    text = HEAD + textwrap.indent(body, "    ") + "\n    sink(bar)\n"
    module = Module("app/x.py", text, ast.parse(text))
    module.others = others or {}
    (call,) = (c for c in module.all(ast.Call) if getattr(c.func, "id", "") == "sink")
    found = reach_of(module, lambda _: frozenset()).value(call.args[0])
    return None if found is None else (set(found.taint), found.safe)


@pytest.mark.parametrize(
    "check",
    [
        "if bar not in ('a', 'b'):\n    abort(400)",
        "if bar not in settings.ALLOWED:\n    raise ValueError(bar)",
        "if not bar.isalnum():\n    return 'no'",
        "if not re.fullmatch('[a-z]+', bar):\n    return 'no'",
        "if re.match('^[a-z0-9]+$', bar) is None:\n    return 'no'",
        "bar = bar if bar == 'a' else 'b'",
        "bar = {'a': 'b'}.get(bar, 'c')",
        "bar = ''.join(c for c in bar if c.isalnum())",
    ],
)
def test_a_check_that_holds_makes_a_text_harmless(check: str) -> None:
    assert value_of(f"bar = request.args['x']\n{check}") == (set(), frozenset())


@pytest.mark.parametrize(
    "body",
    [
        "bar = request.args['x']\nif bar not in ('a', 'b'):\n    print('odd')",
        "bar = request.args['x']\nif bar.isalnum():\n    print('plain')",
        "bar = request.args['x']\nif bar not in NOBODY_KNOWS:\n    raise ValueError(bar)",
        "bar = request.args['x']\nif not re.match('[a-z]+', bar):\n    return 'no'",
        "bar = request.args['x']\nif bar == 'a' or len(bar) > 3:\n    pass",
        "bar = 'x'\nfor n in range(3):\n    if n == 2:\n        bar = request.args['x']",
        "try:\n    bar = request.args['x']\nexcept KeyError:\n    bar = ''",
        "from functools import partial\nbar = partial('{0}'.format, request.args['x'])()",
    ],
)
def test_what_still_carries_the_request_is_told(body: str) -> None:
    assert value_of(body) == ({"request"}, frozenset())


def test_what_a_foreign_function_makes_is_not_certain() -> None:
    assert value_of("import lib\nbar = lib.clean(request.args['x'])") is None
    assert value_of("bar = unknown(request.args['x'])") is None


@pytest.mark.parametrize(
    ("pattern", "whole", "keeps_out", "lets"),
    [
        ("[a-z]+", True, "shell", ""),
        ("[a-z]+", False, "", "shell"),
        (r"[\w./]+", True, "shell", "path"),
        (".*", True, "", "html"),
        (r"^\d{1,4}x\d{1,4}$", False, "sql", ""),
        ("(", True, "", "html"),
    ],
)
def test_a_pattern_keeps_out_what_its_letters_cannot_say(
    pattern: str, whole: bool, keeps_out: str, lets: str
) -> None:
    found = kept_out(pattern, whole=whole)
    assert not keeps_out or keeps_out in found
    assert not lets or lets not in found


def levels(value: str, origin: str = "app.tools", path: str = "app/views.py") -> set[str]:
    head = {**TREE, path: SHELL.format(origin=origin, value=value)}
    request: PrescreenRequest = make_request(head, TREE)
    return {f.severity.value for f in PyAst().scan(request).findings if f.rule_id == "py.shell-command"}


def test_functions_of_other_files_are_read_through() -> None:
    asked = 'request.args["x"]'
    assert levels(f'doer("first").do({asked})') == {"high"}
    assert levels(f"neat({asked})", ".tools") == {"high"}
    assert levels(f'doer("second").do({asked})') <= {"low"}
    assert levels(f'doer("second").do({asked})', ".tools") <= {"low"}


def test_only_modules_of_the_tree_are_read() -> None:
    tree = DictTree({**TREE, "src/other.py": "x = 1", "app/views.py": ""})
    found = imported_files(["app/views.py"], {"app/views.py": [".tools", "os", "other"]}, tree)
    assert found["imported"] == {"app/views.py": {"app.tools": "app/tools.py", "other": "src/other.py"}}
    assert imported_files(["app/views.py"], {"app/views.py": ["os"]}, tree) == {}
