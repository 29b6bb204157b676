"""The import allow-list: use decides; no list, no word."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.imports import RULES, Imports
from tests.prescreen_support import make_request

HITS = {
    "subprocess": ("import subprocess\nsubprocess.run(['ls'])\n", "medium"),
    "os-system": ("import os\nos.system('ls')\n", "medium"),
    "os-alias": ("import os as o\no.system('ls')\n", "medium"),
    "from-os": ("from os import system as s\ns('ls')\n", "medium"),
    "network": ("from urllib.request import urlopen\n", "medium"),
    "inside-a-function": ("def f():\n    import socket\n    return socket.socket()\n", "medium"),
    "other-package": ("import leftpad\n", "low"),
}
CLEAN = {
    "environment": "import os\nx = os.environ.get('A')\ny = os.path.join('a', 'b')\n",
    "standard": "import json\nfrom dataclasses import dataclass\nfrom __future__ import annotations\n",
    "on-the-list": "import numpy as np\nimport requests.adapters\n",
    "own-package": "import pkg.other\nfrom helpers import x\n",
    "relative": "from . import y\nfrom ..a import b\n",
    "narrow-entry": "import shutil\nshutil.rmtree('a')\n",
}
ALLOWED = ("numpy", "requests", "shutil.rmtree")


def scan(
    text: str, base: str | None = None, allowed: tuple[str, ...] = ALLOWED
) -> list[tuple[str, int | None]]:
    head = {"pkg/a.py": text, "helpers.py": "x = 1\n"}
    old = None if base is None else {"pkg/a.py": base, "helpers.py": "x = 1\n"}
    result = Imports().scan(make_request(head, old, allowed_imports=allowed))
    assert all(stage.looked for stage in result.stages)
    assert {f.rule_id for f in result.findings} <= {rule.id for rule in RULES}
    return [(f.severity.value, f.primary.line) for f in result.findings]


@pytest.mark.parametrize("name", list(HITS))
def test_hit(name: str) -> None:
    text, level = HITS[name]
    assert [found for found, _ in scan(text)] == [level]


@pytest.mark.parametrize("name", list(CLEAN))
def test_clean(name: str) -> None:
    assert scan(CLEAN[name]) == []


def test_no_list_no_word() -> None:
    assert scan("import subprocess\n", allowed=()) == []


def test_an_import_that_base_had_is_not_new() -> None:
    assert scan("x = 1\nimport subprocess\n", base="import subprocess\n") == []
