"""Calls of Python that can act, by whatever name the text gives their function."""

from __future__ import annotations

import pytest

from gate.sandbox.planning.source import read_facts


def acts(source: str) -> list[tuple[int, str]]:
    facts = read_facts({"a.py": source.encode()})["a.py"]
    assert facts is not None
    return [(first, what) for first, _, what in facts.acts]


@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("import os\nrun = os.system\nrun('x')", (3, "start a process")),
        (
            "import subprocess as sp\nclass A:\n  def f(self):\n    self.b = sp.call\n    self.b()",
            (5, "start a process"),
        ),
        ("import sys\nsys.modules['os'].system('x')", (2, "start a process")),
        (
            "import socket as k\nclass A:\n  def a(me): me.s = k.socket()\n  def f(me): me.s.connect(1)",
            (4, "reach the network"),
        ),
        ("import socket\nsocket.socket().connect(1)", (2, "reach the network")),
        ("import requests\nwith requests.Session() as s:\n  s.post('u')", (3, "reach the network")),
        (
            "import aiohttp\nasync def f():\n  async with aiohttp.ClientSession() as s:\n    s.get(1)",
            (4, "reach the network"),
        ),
        (
            "from http.client import HTTPSConnection\nc = HTTPSConnection('h')\nc.request('GET', '/')",
            (3, "reach the network"),
        ),
        ("import smtplib\nif (m := smtplib.SMTP('h')):\n  m.sendmail()", (3, "reach the network")),
        ("from pathlib import Path\nPath('x').unlink()", (2, "delete files")),
        ("import logging.handlers\nlogging.handlers.HTTPHandler('h', '/')", (2, "reach the network")),
        ("go = eval\ngo('1')", (2, "run code that it is given")),
    ],
)
def test_the_last_of_them(source: str, last: tuple[int, str]) -> None:
    assert acts(source)[-1] == last


@pytest.mark.parametrize(
    "source",
    [
        "import os\nname = os.environ.get('A')\nname.split()\nos.path.join(name).upper()",
        "from pathlib import Path\np = Path('x')\np.read_text()\np.exists()",
        "x = y.z\nx()\nself.run = other\nself.run()",
        "import socket\ns = socket.socket\ns.__name__.upper()",
    ],
)
def test_what_ordinary_names_do_is_nothing(source: str) -> None:
    assert acts(source) == []


def test_what_a_function_gives_is_not_followed() -> None:
    source = "import requests\nr = requests.get('u')\nr.json()\nrequests.get('u').json()"
    assert acts(source) == [(2, "reach the network"), (4, "reach the network")]


def test_deep_chains_and_circles_end() -> None:
    assert acts("a = b\nb = a\na()\n" + "x" + ".y()" * 300) == []
