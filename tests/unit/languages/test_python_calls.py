"""Python's sensitive calls, whatever way the code takes to them; and their harmless twins."""

from __future__ import annotations

import pytest

from gate.languages.sensitive_calls.parse import read_one
from gate.model.sensitive import SensitiveKind, SourceReading

HOSTILE = {
    # aliases and functions handed on as values
    "an alias of __import__": ("_native = __import__\n_native('os').system(c)\n", "process"),
    "a lambda": ("import os\nf = lambda c: os.system(c)\n", "process"),
    "handed to map": ("import os\nmap(os.system, cs)\n", "process"),
    "handed to a thread": ("import os, threading\nthreading.Thread(target=os.system).start()\n", "process"),
    "handed on in a partial": ("import os, functools\nx.go = functools.partial(os.system, c)\n", "process"),
    "a dictionary of functions": ("import os\nd = {'a': os.system}\nd[k](c)\n", "process"),
    "kept in a class": (
        "import os\nclass A:\n    run = os.system\n    def f(self):\n        self.run(c)\n",
        "process",
    ),
    "given by a function": ("import os\ndef get(): return os.system\nget()(c)\n", "process"),
    "an alias of getattr": ("import os\ng = getattr\ng(os, 'system')(c)\n", "process"),
    "a decorator": ("@eval\nclass A: pass\n", "dynamic-code"),
    "put in the place of another": ("import os\nsetattr(x, 'f', os.system)\n", "process"),
    # ways to a module and what is in it
    "import_module": ("import importlib\nm = importlib.import_module('os')\nm.system(c)\n", "process"),
    "import_module of parts": (
        "import importlib\nm = importlib.import_module('o' + 's')\nm.system(c)\n",
        "process",
    ),
    "import_module of a made name": ("import importlib\nimportlib.import_module(n).f(c)\n", "dynamic-code"),
    "vars": ("import os\nvars(os)['system'](c)\n", "process"),
    "__dict__": ("import os\nos.__dict__['system'](c)\n", "process"),
    "__dict__.get": ("import os\nos.__dict__.get('system')(c)\n", "process"),
    "__dict__ by a made name": ("import os\nos.__dict__[n](c)\n", "dynamic-code"),
    "__getattribute__": ("import os\nos.__getattribute__('system')(c)\n", "process"),
    "sys.modules": ("import sys\nsys.modules['os'].system(c)\n", "process"),
    "globals": ("import os\nglobals()['os'].system(c)\n", "process"),
    "methodcaller": ("import os, operator\noperator.methodcaller('system', c)(os)\n", "dynamic-code"),
    "attrgetter": ("import os, operator\noperator.attrgetter('system')(os)(c)\n", "process"),
    "resolve_name": ("import pkgutil\npkgutil.resolve_name('os:system')(c)\n", "process"),
    "brackets": ("import os\n(os).system(c)\n", "process"),
    "a list": ("import os\n[os][0].system(c)\n", "process"),
    "a loop": ("import os, sys\nfor m in (sys, os):\n    m.system(c)\n", "process"),
    "a default": ("import os\ndef f(c, m=os):\n    m.system(c)\n", "process"),
    "a match": ("import os\nmatch os:\n    case m:\n        m.system(c)\n", "process"),
    "a split name": ("import os\nos.\\\nsystem(c)\n", "process"),
    "what another module imported": ("import shutil\nshutil.os.system(c)\n", "process"),
    "a made name": ("import os\ngetattr(os, n)(c)\n", "dynamic-code"),
    "a made name of a module, handed on": ("import os\nrun(getattr(os, n), c)\n", "dynamic-code"),
    "a made name of what nobody knows, handed on": (
        "def f(x, n, c):\n    g = getattr(x, n)\n    run(g, c)\n",
        "dynamic-code",
    ),
    "one of gathered fields": (
        "def f(x, n, c):\n    t = {k: getattr(x, k) for k in n}\n    t[c]()\n",
        "dynamic-code",
    ),
    "a made name of what nobody knows": ("def f(x, n, c): getattr(x, n)(c)\n", "dynamic-code"),
    # other names for the same
    "multiprocessing.connection": ("from multiprocessing.connection import Client\nClient(a)\n", "network"),
    "_posixsubprocess": ("import _posixsubprocess as p\np.fork_exec(c)\n", "process"),
    "_socket": ("import _socket\n_socket.socket()\n", "network"),
    "requests.api": ("import requests\nrequests.api.post(u)\n", "network"),
    "requests.sessions": ("from requests.sessions import Session\nSession().post(u)\n", "network"),
    "HTTPSConnectionPool": ("import urllib3\nurllib3.HTTPSConnectionPool(h)\n", "network"),
    "create_connection of a loop": (
        "async def f(loop):\n    await loop.create_connection(p, h)\n",
        "network",
    ),
    "an annotated session": ("import requests\ndef f(s: requests.Session): s.post(u)\n", "network"),
    "an own session": ("import requests\nclass S(requests.Session): pass\nS().post(u)\n", "network"),
    "HTTPHandler": ("from logging import handlers\nhandlers.HTTPHandler(h, u)\n", "network"),
    "SMTPHandler": ("import logging.handlers\nlogging.handlers.SMTPHandler(h, f, t, s)\n", "network"),
    "SocketHandler": ("import logging.handlers as x\nx.SocketHandler(h, 1)\n", "network"),
    "timeit": ("import timeit\ntimeit.timeit('import os; os.abort()')\n", "dynamic-code"),
    "cProfile": ("import cProfile\ncProfile.run('f()')\n", "dynamic-code"),
    "os.kill": ("import os\nos.kill(p, 9)\n", "process"),
    # what destroys
    "emptied": ("from pathlib import Path\nPath(p).write_bytes(b'')\n", "deletion"),
    "written over": ("open('/etc/hosts', 'w')\n", "deletion"),
    "written over at home": ("import os\nopen(os.path.expanduser('~/notes'), mode='w')\n", "deletion"),
    "moved from home": ("import shutil\nshutil.move('/home/u/notes', t)\n", "deletion"),
    "replaced at home": (
        "import os\nfrom pathlib import Path\nos.replace(t, Path.home() / 'notes')\n",
        "deletion",
    ),
    # credentials
    "a variable by a name": ("import os\nk = 'GITHUB_TOKEN'\nos.environ[k]\n", "credentials"),
    "variables in a loop": ("import os\nfor k in ('NPM_TOKEN', 'X'):\n    os.getenv(k)\n", "credentials"),
    "a path in parts": ("from pathlib import Path\nPath.home() / '.aws' / 'credentials'\n", "credentials"),
}
HARMLESS = {
    "a parameter called requests": "def f(requests): return requests.get('x')\n",
    "a parameter called socket": "def f(socket): socket.send(1)\n",
    "an annotation": "from urllib3 import HTTPConnectionPool\n"
    "def f(pool: HTTPConnectionPool) -> None:\n    x: HTTPConnectionPool = pool\n",
    "an own unlink": "class Node:\n    def unlink(self): self.next = None\ndef f(node): node.unlink()\n",
    "the text GITHUB_TOKEN": "NAMES = ['GITHUB_TOKEN']\nprint('GITHUB_TOKEN')\n",
    "an own file replaced": "import os\nos.replace(t, p)\nopen(p, 'w')\nopen('/tmp/x', 'w')\n",
    "a part of the environment": "import os\ne = os.environ\ne.get('HOME')\n",
    "a module by a fixed name": "import importlib\nimportlib.import_module('json').loads(x)\n",
    "a getter": "import operator\nsorted(xs, key=operator.attrgetter('name'))\n",
    "a timed function": "import timeit\ntimeit.timeit(lambda: f(1))\n",
    "an object that writes": "from .x import Writer\ndef f(out: Writer): out.write_text('')\n",
    "an exception": "import requests\ntry: pass\nexcept requests.RequestException: pass\n",
    "an answer": "import requests\ndef f(r: requests.Response): return r.json()\n",
    "a mock": "import subprocess\nfrom unittest import mock\nmock.patch.object(subprocess, 'run')\n",
    "a monkeypatch": "import os\ndef test(monkeypatch): monkeypatch.setattr(os, 'getcwd', f)\n",
    "all fields of what was given, handed on": (
        "def f(spider):\n    params = {k: getattr(spider, k) for k in dir(spider)}\n    fill(params)\n"
    ),
    "a switch of its own": "class A:\n    def f(self, n): return getattr(self, 'do_' + n)()\n",
    "an own method's name": "class A:\n    def requests(self): return {}\n"
    "    def f(self): self.requests().get('x')\n",
    "another module's name": "from app import shell as subprocess\nsubprocess.run(1)\n",
    "a relative module's name": "from . import subprocess\nsubprocess.run(1)\n",
    "a constant": "import subprocess\nx = f(subprocess.PIPE, subprocess.DEVNULL)\n",
    "an exception handed on": "import subprocess\nf(subprocess.CalledProcessError)\n",
}


LAST = [
    ("import subprocess as sp\nclass A:\n  def f(self):\n    self.b = sp.call\n    self.b()", (5, "process")),
    (
        "import socket as k\nclass A:\n  def a(me): me.s = k.socket()\n  def f(me): me.s.connect(1)",
        (4, "network"),
    ),
    ("import socket\nsocket.socket().connect(1)", (2, "network")),
    ("import requests\nwith requests.Session() as s:\n  s.post('u')", (3, "network")),
    (
        "import aiohttp\nasync def f():\n  async with aiohttp.ClientSession() as s:\n    s.get(1)",
        (4, "network"),
    ),
    (
        "from http.client import HTTPSConnection\nc = HTTPSConnection('h')\nc.request('GET', '/')",
        (3, "network"),
    ),
    ("import smtplib\nif (m := smtplib.SMTP('h')):\n  m.sendmail()", (3, "network")),
    ("from pathlib import Path\nPath('x').unlink()", (2, "deletion")),
    ("go = eval\ngo('1')", (2, "dynamic-code")),
    ("import requests\nr = requests.get('u')\nr.json()\nrequests.get('u').json()", (4, "network")),
]


@pytest.mark.parametrize(("source", "last"), LAST)
def test_the_last_of_them(source: str, last: tuple[int, str]) -> None:
    call = read(source).calls[-1]
    assert (call.first, call.kind.value) == last


@pytest.mark.parametrize(
    "source",
    [
        "import os\nname = os.environ.get('A')\nname.split()\nos.path.join(name).upper()",
        "from pathlib import Path\np = Path('x')\np.read_text()\np.exists()",
        "x = y.z\nx()\nself.run = other\nself.run()",
        "import socket\ns = socket.socket\ns.__name__.upper()",
        "a = b\nb = a\na()\n" + "x" + ".y()" * 60,
    ],
)
def test_what_ordinary_names_do_is_nothing(source: str) -> None:
    assert read(source).calls == ()


def read(text: str) -> SourceReading:
    reading = read_one("src/shop/a.py", text.encode(), {})
    assert reading.readable, reading.reason
    return reading


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name: str) -> None:
    text, kind = HOSTILE[name]
    assert SensitiveKind(kind) in {call.kind for call in read(text).calls}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless(name: str) -> None:
    assert read(HARMLESS[name]).calls == ()


def test_places_are_those_of_the_interpreter() -> None:
    (call,) = read("import os\nx = [\n  'ä', os.system(\n 'x')]\n").calls
    assert call.place == (3, 8, 4, 5)
    assert call.way == "call"
    (call,) = read("import os\nmap(os.system, cs)\n").calls
    assert call.place == (2, 4, 2, 13)
    assert call.way == "hand"


def test_a_tangle_is_unreadable() -> None:
    text = "x0 = os\n" + "".join(f"x{n} = x{n - 1}.a\n" for n in range(1, 400)) + "x399.b()\n"
    reading = read_one("a.py", text.encode(), {})
    assert not reading.readable
    assert "followed" in reading.reason
