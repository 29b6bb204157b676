"""Which of several values reaches a place: containers by key, dead branches, what functions give back."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.sources import REQUEST

HEAD = """
from flask import Flask, request
app = Flask(__name__)
class Thing:
    def __init__(self, name=None, other=None):
        self.name = name
        self.other = other
class Maker:
    def make(self, value):
        return value + "x"
    def fixed(self, value):
        return "fixed"
def ident(x):
    return x
def const(x):
    return "constant"
def picked(x):
    n = 3
    if n > 2:
        r = "a"
    else:
        r = x
    return r
@app.route("/a")
def view():
    param = request.args.get("q")
"""


def reaches(body: str) -> bool:
    """Whether text of the request is in ``bar`` after ``body``."""
    text = HEAD + textwrap.indent(body, "    ") + "\n    sink(bar)\n"
    module = Module("app/x.py", text, ast.parse(text))
    (call,) = (c for c in module.all(ast.Call) if getattr(c.func, "id", "") == "sink")
    return REQUEST in Flow(module).kinds(call.args[0])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "num = 86\nif 7 * 42 - num > 200:\n    bar = param\nelse:\n    bar = 'ok'", id="live_if"
        ),
        pytest.param("num = 106\nbar = param if 7 * 18 + num > 200 else 'x'", id="ternary_live"),
        pytest.param(
            "guess = 'ABC'[0]\n"
            "match guess:\n"
            "    case 'A':\n"
            "        bar = param\n"
            "    case 'B':\n"
            "        bar = 'bob'\n"
            "    case _:\n"
            "        bar = 'x'",
            id="match_live",
        ),
        pytest.param("m = {}\nm['a'] = 'safe'\nm['b'] = param\nbar = m['b']", id="dict_same"),
        pytest.param("m = {'a': 'safe', 'b': param}\nbar = m.get('b', 'x')", id="dict_get"),
        pytest.param("m = {'a': 'safe'}\nm[key()] = param\nbar = m['a']", id="dict_unknown"),
        pytest.param("m = {'a': 'safe'}\nm.update(a=param)\nbar = m['a']", id="dict_update"),
        pytest.param("m = {'a': param}\nif cond():\n    m['a'] = 'safe'\nbar = m['a']", id="dict_branch"),
        pytest.param(
            "l = []\nl.append('safe')\nl.append(param)\nl.append('more')\nl.pop(0)\nbar = l[0]",
            id="list_pop_live",
        ),
        pytest.param("l = []\nl.append(param)\nbar = l[0]", id="list_append"),
        pytest.param("l = []\nl.append(param)\nbar = ' '.join(l)", id="list_join"),
        pytest.param("l = []\nfor x in y():\n    l.append(param)\nbar = l[0]", id="list_loop"),
        pytest.param("a, bar = 'x', param", id="tuple"),
        pytest.param(
            "import configparser\n"
            "c = configparser.ConfigParser()\n"
            "c.add_section('s')\n"
            "c.set('s', 'a', 'safe')\n"
            "c.set('s', 'b', param)\n"
            "bar = c.get('s', 'b')",
            id="conf",
        ),
        pytest.param("bar = f'a{param}b'", id="fstring"),
        pytest.param("bar = [p for p in [param]][0]", id="comp"),
        pytest.param("bar = ''.join(c.upper() for c in param)", id="comp2"),
        pytest.param("o = Thing(param, 'x')\nbar = o.name", id="dataclass"),
        pytest.param("o = Thing()\no.name = param\nbar = o.name", id="attr"),
        pytest.param("bar = ident(param)", id="fn"),
        pytest.param(
            "import base64\nbar = base64.b64decode(base64.b64encode(param.encode())).decode()", id="b64"
        ),
        pytest.param("bar = param.split(' ')[0]", id="split"),
        pytest.param("bar = 'x'\nbar += param", id="slice"),
        pytest.param("import io\nwith io.StringIO(param) as f:\n    bar = f.read()", id="with"),
        pytest.param("import io\nf = io.StringIO()\nf.write(param)\nbar = f.getvalue()", id="stringio_write"),
        pytest.param("for bar in [param]:\n    pass", id="loopvar"),
        pytest.param("if (bar := param):\n    pass", id="walrus"),
        pytest.param("bar = 'a %s' % param", id="percent"),
        pytest.param("bar = 'a {}'.format(param)", id="format"),
        pytest.param("bar = Maker().make(param)", id="thing_method"),
    ],
)
def test_it_reaches(body: str) -> None:
    assert reaches(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "num = 86\nif 7 * 42 - num > 200:\n    bar = 'ok'\nelse:\n    bar = param", id="dead_else"
        ),
        pytest.param(
            "num = 86\nif 7 * 42 - num < 200:\n    bar = param\nelse:\n    bar = 'ok'", id="dead_if"
        ),
        pytest.param("num = 106\nbar = 'ok' if 7 * 18 + num > 200 else param", id="ternary_dead"),
        pytest.param(
            "guess = 'ABC'[1]\n"
            "match guess:\n"
            "    case 'A':\n"
            "        bar = param\n"
            "    case 'B':\n"
            "        bar = 'bob'\n"
            "    case _:\n"
            "        bar = 'x'",
            id="match_dead",
        ),
        pytest.param("m = {}\nm['a'] = 'safe'\nm['b'] = param\nbar = m['a']", id="dict_other"),
        pytest.param("m = {}\nm['a'] = 'safe'\nm['b'] = param\nbar = m['b']\nbar = m['a']", id="dict_over"),
        pytest.param("m = {'a': 'safe', 'b': param}\nbar = m['a']", id="dict_lit"),
        pytest.param("m = {'a': 'safe', 'b': param}\nbar = m.get('a')", id="dict_get_safe"),
        pytest.param("m = {'a': param}\nm['a'] = 'safe'\nbar = m['a']", id="dict_clear_overwrite"),
        pytest.param(
            "l = []\nl.append('safe')\nl.append(param)\nl.append('more')\nl.pop(0)\nbar = l[1]", id="list_pop"
        ),
        pytest.param("l = ['a', param]\nbar = l[0]", id="list_lit"),
        pytest.param("bar, a = 'x', param", id="tuple_safe"),
        pytest.param(
            "import configparser\n"
            "c = configparser.ConfigParser()\n"
            "c.add_section('s')\n"
            "c.set('s', 'a', 'safe')\n"
            "c.set('s', 'b', param)\n"
            "bar = c.get('s', 'a')",
            id="conf_safe",
        ),
        pytest.param("o = Thing()\no.name = param\no.other = 'safe'\nbar = o.other", id="attr_other"),
        pytest.param("bar = const(param)", id="fn_const"),
        pytest.param("bar = param\nbar = 'const'", id="replace_all"),
        pytest.param("bar = picked(param)", id="helper_branch"),
        pytest.param("bar = Maker().fixed(param)", id="thing_method_const"),
    ],
)
def test_it_only_seems_to(body: str) -> None:
    assert not reaches(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("m = {'a': 'x'}\nfill(m, param)\nbar = m['a']", id="handed on"),
        pytest.param("m = {'a': 'x'}\nn = m\nn['a'] = param\nbar = m['a']", id="two names"),
        pytest.param("m = {}\ndef put():\n    m['a'] = param\nput()\nbar = m['a']", id="closure"),
        pytest.param("for i in y():\n    if i > 1:\n        bar = param\n    i = 0", id="loop"),
        pytest.param("n = 1\nfor i in y():\n    if n > 1:\n        bar = param\n    n += 1", id="counter"),
    ],
)
def test_what_is_not_certain_is_no_excuse(body: str) -> None:
    text = HEAD + textwrap.indent(body, "    ") + "\n    sink(bar)\n"
    if "fill" in body or "put()" in body or "two" in body:
        # Nothing is known of it: no value may be ruled out.
        module = Module("app/x.py", text, ast.parse(text))
        (call,) = (c for c in module.all(ast.Call) if getattr(c.func, "id", "") == "sink")
        traced = Flow(module).trace(call.args[0])
        assert "m" in traced.names
    else:
        assert reaches(body)


CONSTANTS = ("'a'", "'b'", "param")
KEYS = ("'k'", "'l'", "0")
OPERATIONS = st.one_of(
    st.tuples(
        st.sampled_from(
            ("d[{0}] = {1}", "d.update({{{0}: {1}}})", "d.setdefault({0}, {1})", "d[{0}] = d.get({0}, {1})")
        ),
        st.sampled_from(KEYS),
        st.sampled_from(CONSTANTS),
    ),
    st.tuples(st.just("d.pop({0}, None)"), st.sampled_from(KEYS), st.just("")),
    st.tuples(st.just("if cond:\n    d[{0}] = {1}"), st.sampled_from(KEYS), st.sampled_from(CONSTANTS)),
)
LIST_OPERATIONS = st.one_of(
    st.tuples(
        st.sampled_from(("l.append({1})", "l.insert({0}, {1})", "l.extend([{1}])")),
        st.sampled_from(("0", "1", "-1")),
        st.sampled_from(CONSTANTS),
    ),
    st.tuples(
        st.sampled_from(
            (
                "if l: l.pop()",
                "l.reverse()",
                "l[-1:] = []",
                "del l[0:1]",
                "if len(l) > 1: l[{0}] = {1}",
                "if cond:\n    l.append({1})",
                "for _ in 'xy':\n    l.append({1})",
            )
        ),
        st.sampled_from(("0", "1", "-1")),
        st.sampled_from(CONSTANTS),
    ),
)


def _really(body: str, *, cond: bool) -> bool:
    """Run our own generated lines: is the tainted value what is read?"""
    names: dict[str, object] = {"param": "TAINTED", "cond": cond}
    exec(body, names)
    return "TAINTED" in str(names["bar"])


@settings(max_examples=300, deadline=None)
@given(operations=st.lists(OPERATIONS, max_size=6), key=st.sampled_from(KEYS))
def test_dictionaries_never_lose_a_value(operations: list[tuple[str, str, str]], key: str) -> None:
    lines = [shape.format(k, v) for shape, k, v in operations]
    body = "\n".join(["d = {}", *lines, f"bar = d.get({key}, 'none')"])
    if any(_really(body, cond=cond) for cond in (True, False)):
        assert reaches(body)


@settings(max_examples=300, deadline=None)
@given(operations=st.lists(LIST_OPERATIONS, max_size=6), index=st.sampled_from(("0", "1", "-1")))
def test_lists_never_lose_a_value(operations: list[tuple[str, str, str]], index: str) -> None:
    lines = [shape.format(k, v) for shape, k, v in operations]
    body = "\n".join(["l = ['s', 's']", *lines, f"bar = l[{index}] if True else ''"])
    try:
        tainted = any(_really(body, cond=cond) for cond in (True, False))
    except IndexError:
        return
    if tainted:
        assert reaches(body)
