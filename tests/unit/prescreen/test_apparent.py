"""Bandit's word is lowered where the forward reading is certain that nothing harmful gets there."""

from __future__ import annotations

import pytest

from gate.prescreen.apparent import lower_apparent
from gate.prescreen.interface import Prescreened
from gate.prescreen.scanners.bandit import SCANNER
from gate.prescreen.views import make_views
from tests.prescreen_support import make_request

_HEAD = """import pickle
import subprocess
from urllib.request import urlopen

from flask import Flask, request
from markupsafe import Markup, escape

app = Flask(__name__)
HOSTS = {"a": "https://a.example/", "b": "https://b.example/"}


@app.get("/x")
def x():
"""


_ASKED = "n = request.args['n']"
_SHELL = "return subprocess.call('ls ' + n, shell=True)"


def _levels(body: str) -> dict[str, str]:
    """Rule -> severity, after the lowering; Bandit itself is run."""
    text = _HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    request = make_request({"app.py": text})
    told = SCANNER.scan(request)
    (after,) = lower_apparent([told], make_views(request))
    assert len(after.findings) == len(told.findings)
    return {finding.rule_id: finding.severity.value for finding in after.findings}


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("bandit-b602", f"{_ASKED}\nif not n.isalnum():\n    return ''\n{_SHELL}"),
        ("bandit-b307", "n = '1 + 1'\nreturn eval(n)"),
        ("bandit-b310", "return urlopen(HOSTS[request.args['h']]).read()"),
        ("bandit-b704", "return Markup('<b>' + escape(request.args['n']) + '</b>')"),
        ("bandit-b301", "return pickle.loads(b'made up')"),
    ],
)
def test_what_is_only_apparent_is_low(rule: str, body: str) -> None:
    assert _levels(body)[rule] == "low"


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("bandit-b602", f"{_ASKED}\nif n not in NOBODY_KNOWS:\n    return ''\n{_SHELL}"),
        ("bandit-b307", "n = request.args['n']\nreturn eval(n)"),
        ("bandit-b310", "return urlopen(request.args['h']).read()"),
        ("bandit-b704", "return Markup('<b>' + request.args['n'] + '</b>')"),
        ("bandit-b301", "return pickle.loads(request.data)"),
    ],
)
def test_what_may_carry_the_request_stays(rule: str, body: str) -> None:
    assert _levels(body)[rule] != "low"


def test_a_file_that_cannot_be_read_keeps_what_was_said() -> None:
    request = make_request({"app.py": _HEAD + "    return eval('1')\n"})
    told = SCANNER.scan(request)
    broken = make_request({"app.py": "def (:\n"})
    (after,) = lower_apparent([told], make_views(broken))
    assert after.findings == told.findings
    assert lower_apparent([Prescreened(findings=(), stages=())], make_views(request))[0].findings == ()
