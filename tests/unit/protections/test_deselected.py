"""Tests that settings leave out, and answers that are overwritten."""

from __future__ import annotations

import pytest

from gate.model.finding import Finding
from gate.prescreen.scanners.protections import TESTS, Protections
from gate.protections.test_settings.reader import read
from tests.prescreen_support import make_request

BOTH = {
    "tests/test_permissions.py": "def test_guest_may_not_delete():\n    assert not may(guest)\n",
    "tests/test_layout.py": "def test_page():\n    assert page()\n",
    "tests/benchmarks/test_speed.py": "def test_speed():\n    assert fast()\n",
}
PYTEST = '[tool.pytest.ini_options]\naddopts = "{}"\n'


def found(path: str, head: str, base: str | None = None) -> list[Finding]:
    before = {**BOTH} if base is None else {**BOTH, path: base}
    result = Protections().scan(make_request({**BOTH, path: head}, before))
    return [f for f in result.findings if f.rule_id == TESTS.id]


@pytest.mark.parametrize(
    ("path", "text", "severity"),
    [
        ("pyproject.toml", PYTEST.format("-q --ignore-glob=*permissions*"), "medium"),
        ("pyproject.toml", PYTEST.format("--deselect tests/test_permissions.py::test_x"), "medium"),
        ("pyproject.toml", PYTEST.format("-k 'not may_not'"), "medium"),
        ("pytest.ini", "[pytest]\naddopts = --ignore=tests/test_layout.py\n", "low"),
        ("setup.cfg", "[tool:pytest]\naddopts = -k 'not (may_not or x)'\n", "medium"),
        ("tests/conftest.py", "collect_ignore = ['test_permissions.py']\n", "medium"),
        (
            "tests/conftest.py",
            "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n",
            "high",
        ),
        ("conftest.py", "def pytest_unconfigure(config):\n    os._exit(0)\n", "high"),
        ("conftest.py", "def hook(report):\n    report.outcome = 'passed'\n", "high"),
        ("package.json", '{"scripts": {"test": "jest || true"}}', "high"),
        ("package.json", '{"jest": {"testPathIgnorePatterns": ["test_permissions"]}}', "medium"),
    ],
)
def test_what_is_left_out(path: str, text: str, severity: str) -> None:
    assert [f.severity.value for f in found(path, text)] == [severity]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", PYTEST.format("-q -ra --strict-markers -m 'not slow' --ignore=tests/benchmarks")),
        ("pyproject.toml", PYTEST.format("--ignore=tests/none_such.py -k 'not windows_only'")),
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n"),
        ("pytest.ini", "[pytest]\ntestpaths = tests\n"),
        ("conftest.py", "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 1\n"),
        ("conftest.py", "import sys\n\n\ndef pytest_configure(config):\n    sys.path.insert(0, 'src')\n"),
        ("package.json", '{"scripts": {"test": "jest --ci", "lint": "eslint . || true"}}'),
        ("package.json", '{"jest": {"testPathIgnorePatterns": ["/node_modules/", "/dist/"]}}'),
    ],
)
def test_ordinary_settings(path: str, text: str) -> None:
    assert found(path, text) == []


def test_what_base_left_out_is_no_news() -> None:
    text = PYTEST.format("--ignore-glob=*permissions*")
    assert found("pyproject.toml", "# more\n" + text, text) == []
    assert found("pytest.ini", "[pytest]\naddopts = --ignore-glob=*layout*\n", text) != []


@pytest.mark.parametrize("text", ["[", "addopts = '", "\x00"])
def test_settings_that_no_runner_reads_leave_nothing_out(text: str) -> None:
    assert found("pyproject.toml", text) == []


def test_the_line_is_that_of_the_value() -> None:
    text = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = ["-k", "not may_not"]\n'
    (one,) = read("pyproject.toml", text.encode(), {}).left_out
    assert (one.kind, one.what, one.line) == ("name", "may_not", 3)
