"""Safe fixes of single lines: what they become, and everything that is left alone."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.github.publishing.python_fixes import FIXES, fix_of
from gate.stages.rule_index import rulebook

TLS, YAML, SHELL, DEBUG = "bandit-b501", "bandit-b506", "bandit-b602", "bandit-b201"


@pytest.mark.parametrize(
    ("rule", "line", "fixed"),
    [
        (YAML, "    x = yaml.load(f)  # read", "    x = yaml.safe_load(f)  # read"),
        (YAML, "x = yaml.load(f, Loader=yaml.Loader)", "x = yaml.safe_load(f)"),
        (YAML, "x = yaml.load(f, yaml.UnsafeLoader)", "x = yaml.safe_load(f)"),
        (YAML, "for a in yaml.load(open(p)):", "for a in yaml.safe_load(open(p)):"),
        (YAML, "x = 'é', yaml.load('ü')", "x = 'é', yaml.safe_load('ü')"),
        (TLS, "r = requests.get(u, verify=False)", "r = requests.get(u)"),
        (TLS, "r = requests.get(u, verify=False, timeout=5)", "r = requests.get(u, timeout=5)"),
        (TLS, "r = requests.get(verify=False, url=u)", "r = requests.get(url=u)"),
        (TLS, "c = httpx.Client(verify=False)", "c = httpx.Client()"),
        (TLS, "\twith requests.get(u, verify=False) as r:", "\twith requests.get(u) as r:"),
        ("bandit-b323", "c = ssl._create_unverified_context()", "c = ssl.create_default_context()"),
        (SHELL, 'subprocess.run(["ls", p], shell=True, check=True)', 'subprocess.run(["ls", p], check=True)'),
        (DEBUG, 'app.run(host="::1", debug=True)', 'app.run(host="::1")'),
        (
            TLS,
            "a(requests.get(u, verify=False), requests.get(v, verify=False))",
            "a(requests.get(u), requests.get(v))",
        ),
    ],
)
def test_fixed(rule: str, line: str, fixed: str) -> None:
    found = fix_of(rule, line)
    assert found is not None
    assert found.line == fixed


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (YAML, "x = yaml.load(f, Loader=Mine)"),
        (YAML, "x = yaml.load(f, Loader=yaml.SafeLoader)"),
        (YAML, "x = ruamel.load(f)"),
        (YAML, "x = yaml.load("),
        (YAML, "# yaml.load(f)"),
        (YAML, "x = 'yaml.load(f)'"),
        (TLS, "r = session.get(u, verify=False)"),
        (TLS, "r = requests.get(u, verify=flag)"),
        (TLS, "r = requests.get(u, **{'verify': False})"),
        (SHELL, "subprocess.run(command, shell=True)"),
        (SHELL, "subprocess.run('ls', shell=True)"),
        (SHELL, "os.system('ls')"),
        ("bandit-b303", "hashlib.md5(x)"),
        ("py.none", "yaml.load(f)"),
        (YAML, "x = yaml.load(f)  # \u202e reversed"),
        (YAML, "x = yaml.load(f)\x00"),
        (YAML, "x = yaml.load(f)\r"),
        (YAML, "x = yaml.load(f)  # " + "x" * 300),
        (YAML, "(" * 250 + "yaml.load(f)"),
    ],
)
def test_left_alone(rule: str, line: str) -> None:
    assert fix_of(rule, line) is None


@given(rule=st.sampled_from(sorted(FIXES)), head=st.text(max_size=20), tail=st.text(max_size=20))
def test_whatever_stands_around_it_stays_python(rule: str, head: str, tail: str) -> None:
    for middle in ("yaml.load(f)", "requests.get(u, verify=False)", 'subprocess.run(["a"], shell=True)'):
        found = fix_of(rule, f"{head}{middle}{tail}")
        if found is not None:
            assert "\n" not in found.line
            try:
                ast.parse(found.line.strip())
            except SyntaxError:
                ast.parse(found.line.strip() + "\n pass")


def test_every_rule_is_a_rule() -> None:
    known = {meta.id for meta in rulebook().all()}
    assert set(FIXES) <= known
