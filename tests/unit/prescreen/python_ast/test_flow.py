"""Names, constants and origins: what the syntax-tree rules stand on."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.constants import NOT_CONST
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.patterns import slow
from gate.prescreen.python_ast.sources import FILE, PARAMETER, REQUEST


def module(text: str, path: str = "app/x.py") -> Module:
    return Module(path, text, ast.parse(text))


def last_call(found: Module) -> ast.Call:
    return max(found.all(ast.Call), key=lambda call: (call.lineno, -found.order[call]))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import os\nos.system(1)", "os.system"),
        ("import os as o\no.system(1)", "os.system"),
        ("from os import system as s\ns(1)", "os.system"),
        ("import os.path as p\np.join(1)", "os.path.join"),
        ("from os import *\nsystem(1)", "os.system"),
        ("import os\nrun = os.system\nrun(1)", "os.system"),
        ("import os\na = b = os\nb.system(1)", "os.system"),
        ("import os\n(a, b) = (os.system, 1)\na(1)", "os.system"),
        ("import os\nif (f := os.system):\n    f(1)", "os.system"),
        ("import os\ngetattr(os, 'sys' + 'tem')(1)", "os.system"),
        ("import os\nvars(os)['system'](1)", "os.system"),
        ("import os\nos.__dict__['system'](1)", "os.system"),
        ("import os\nos.__getattribute__('system')(1)", "os.system"),
        ("import sys\nsys.modules['os'].system(1)", "os.system"),
        ("__import__('o' + 's').system(1)", "os.system"),
        ("import importlib as i\ni.import_module('os').system(1)", "os.system"),
        ("import os\nglobals()['os'].system(1)", "os.system"),
        ("globals()['__builtins__']['eval'](1)", "eval"),
        ("__builtins__.eval(1)", "eval"),
        ("import builtins\nbuiltins.__dict__['eval'](1)", "eval"),
        ("import os\ndef f(go=os.system):\n    go(1)", "os.system"),
        ("import os\nclass C:\n    go = os.system\n    go(1)", "os.system"),
        ("import os\nclass C:\n def a(self): self.go = os.system\n def b(self): self.go(1)", "os.system"),
        ("import os\n[f(1) for f in (os.system,)]", "os.system"),
        ("import os\nmatch os.system:\n    case f:\n        f(1)", "os.system"),
        ("import cPickle as p\np.loads(1)", "pickle.loads"),
        ("import posix\nposix.system(1)", "os.system"),
        ("from functools import partial\nimport os\npartial(os.system)(1)", "os.system"),
        ("import os\nos.system.__call__(1)", "os.system.__call__"),
        ("import socket\ns = socket.socket()\ns.connect(1)", "socket.socket().connect"),
        ("import socket\nwith socket.socket() as s:\n    s.connect(1)", "socket.socket().connect"),
        ("from pathlib import Path\n(Path.home() / 'x').open(1)", "pathlib.Path().open"),
        ("\uff45\uff56\uff41\uff4c(1)", "eval"),  # Python reads identifiers in NFKC

    ],
)  # fmt: skip
def test_a_call_is_known_by_its_real_name(text: str, name: str) -> None:
    found = module(text)
    names = [n for call in found.all(ast.Call) for n in found.names_of(call.func)]
    assert any(n == name for n in names)


@pytest.mark.parametrize(
    "text",
    [
        "def eval(x): ...\neval(1)",
        "eval = print\neval(1)",
        "for eval in (1, 2):\n    eval(1)",
        "def f(eval):\n    eval(1)",
        "import mine.os as os\nos.system(1)",
        "class os:\n    system = print\nos.system(1)",
    ],
)
def test_a_name_of_ones_own_is_not_the_builtin(text: str) -> None:
    found = module(text)
    assert not {"eval", "os.system"} & {n for n in found.call_index if n in ("eval", "os.system")}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'o' + 's'", "os"),
        ("''.join(['o', 's'])", "os"),
        ("''.join(chr(c) for c in [111, 115])", "os"),
        ("''.join(map(chr, (111, 115)))", "os"),
        ("''.join(chr(c ^ 1) for c in [110, 114])", "os"),
        ("''.join(map(lambda c: chr(c - 1), [112, 116]))", "os"),
        ("'so'[::-1]", "os"),
        ("bytes([111, 115]).decode()", "os"),
        ("bytes.fromhex('6f73').decode()", "os"),
        ("__import__('base64').b64decode('b3M=').decode()", "os"),
        ("'%s%s' % ('o', 's')", "os"),
        ("'{}{}'.format('o', 's')", "os"),
        ("f\"{'o'}s\"", "os"),
        ("'oXs'.replace('X', '')", "os"),
        ("'OS'.lower()", "os"),
        ("__import__('codecs').decode('bf', 'rot13')", "os"),
        ("str(b'os', 'utf-8')", "os"),
        ("'x' * 3", "xxx"),
        ("-5", -5),
        ("not ''", True),
    ],
)
def test_constants_are_folded(text: str, value: object) -> None:
    found = module(f"x = {text}")
    assign = next(found.all(ast.Assign))
    assert found.const(assign.value) == value


@pytest.mark.parametrize(
    "text",
    [
        "'a' * 10**9",
        "'%999999999d' % 1",
        "'{:999999999}'.format(1)",
        "('a' * 60000).replace('', 'b' * 60000)",
        "10 // 0",
        "bytes.fromhex('zz')",
        "unknown + 'x'",
        "''.join(other)",
        "'a'.decode('utf-16')",
    ],
)
def test_what_is_not_constant_or_too_large_is_unknown(text: str) -> None:
    found = module(f"x = {text}")
    assert found.const(next(found.all(ast.Assign)).value) is NOT_CONST


def test_augmented_text_is_followed() -> None:
    found = module("x = 'o'\nx += 's'\nprint(x)")
    assert found.const(last_call(found).args[0]) == "os"


def test_a_later_assignment_hides_an_earlier_one() -> None:
    text = "from flask import request\ndef f():\n    p = request.args['p']\n    {}p = 'x'\n    print(p)"
    straight = module(text.format(""))
    branch = module(text.format("if q:\n        "))
    assert Flow(straight).kinds(last_call(straight).args[0]) == frozenset()
    assert Flow(branch).kinds(last_call(branch).args[0]) == {REQUEST}


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("print('a' + text)", {PARAMETER}),
        ("print(int(text))", set()),
        ("print(f'{text}')", {PARAMETER}),
        ("a = text.split()\n    for b in a:\n        print(b)", {PARAMETER}),
        ("print([t for t in text])", {PARAMETER}),
        ("print(open('x').read())", {FILE}),
        ("print(text == 'x')", set()),
        ("print(helper(text))", {PARAMETER}),
        ("print(made())", {FILE}),
    ],
)
def test_origins(body: str, kinds: set[str]) -> None:
    found = module(f"def made():\n    return open('x').read()\ndef f(text):\n    {body}")
    call = next(c for c in found.all(ast.Call) if getattr(c.func, "id", "") == "print")
    assert Flow(found).kinds(call.args[0]) == kinds


def test_route_parameters_come_from_the_request() -> None:
    found = module("from flask import Flask\napp = Flask('x')\n@app.route('/<n>')\ndef f(n):\n    print(n)")
    call = next(c for c in found.all(ast.Call) if getattr(c.func, "id", "") == "print")
    assert Flow(found).kinds(call.args[0]) == {REQUEST}


def test_built_text_gives_its_moving_pieces() -> None:
    found = module("def f(a, b):\n    q = 'x' + a\n    q += b\n    print(q)")
    call = next(c for c in found.all(ast.Call))
    pieces = built_from(found, call.args[0])
    assert sorted(p.id for p in pieces or [] if isinstance(p, ast.Name)) == ["a", "b"]


@pytest.mark.parametrize("text", [r"(a+)+$", r"(\w*)*x", r"^([a-z0-9]+\s?)*$", r"(.*)*$x"])
def test_slow_patterns(text: str) -> None:
    assert slow(text)


@pytest.mark.parametrize("text", [r"a+b+c+", r"(\d+,)*\d+", r"(a+)", r"((", "x" * 5000, r"(?:\s*\w+=)*"])
def test_patterns_that_are_not_slow(text: str) -> None:
    assert slow(text) is None


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="()[]*+?|a.\\d^${},0-9", max_size=25))
def test_any_pattern_is_answered(text: str) -> None:
    assert slow(text) in (None, "exponential", "cubic")
