"""Settings of linters and test tools that load code, and those that only configure them."""

from __future__ import annotations

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read


def told(path: str, base: str, head: str) -> set[tuple[str, str]]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return {(one.fact.what, one.fact.subject.rpartition(" ")[2]) for one in differences(old, new, {})}


@pytest.mark.parametrize(
    ("path", "base", "head", "module"),
    [
        (".pylintrc", "[MAIN]\njobs=2\n", "[MAIN]\nload-plugins=a_lint.checks\n", "a_lint.checks"),
        (".coveragerc", "[run]\n", "[run]\nplugins = a_cov\n", "a_cov"),
        ("mypy.ini", "[mypy]\n", "[mypy]\nplugins = a_types.plugin\n", "a_types.plugin"),
        ("setup.cfg", "[mypy]\n", "[mypy]\nplugins =\n    a_types.plugin:make\n", "a_types.plugin"),
        ("pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q -p a_plugin\n", "a_plugin"),
        ("pyproject.toml", "[tool.mypy]\n", '[tool.mypy]\nplugins = ["a_types"]\n', "a_types"),
        (
            "pyproject.toml",
            '[project]\ndependencies = ["a_plugin"]\n',
            '[project]\ndependencies = ["a_plugin"]\n[tool.pytest.ini_options]\naddopts = "-p a_plugin"\n',
            "a_plugin",
        ),
        (".eslintrc.json", '{"plugins": []}', '{"plugins": ["a"]}', "eslint-plugin-a"),
        (".eslintrc.json", "{}", '{"extends": ["eslint:recommended", "a"]}', "eslint-config-a"),
        (".eslintrc", "{}", '{"extends": ["plugin:a/all"]}', "eslint-plugin-a"),
        (".eslintrc.yml", "root: true\n", "plugins: [a]\n", "eslint-plugin-a"),
        (".mocharc.json", "{}", '{"require": ["a-setup"]}', "a-setup"),
        ("package.json", '{"jest": {}}', '{"jest": {"setupFiles": ["a-setup/now"]}}', "a-setup"),
        (".babelrc", "{}", '{"plugins": [["a", {"x": 1}]]}', "babel-plugin-a"),
    ],
)
def test_code_that_a_tool_loads_is_told(path: str, base: str, head: str, module: str) -> None:
    assert told(path, base, head) == {("tool-code", module)}


def test_a_hook_of_pylint_is_code_itself() -> None:
    head = '[MAIN]\ninit-hook="import a.setup"\n'
    assert {what for what, _ in told("pylintrc", "[MAIN]\n", head)} == {"tool-text"}


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        (".pylintrc", "[MAIN]\njobs=2\n", "[MAIN]\njobs=4\ndisable=C0111\n"),
        (".pylintrc", "[MAIN]\n", "[MAIN]\nload-plugins=pylint.extensions.docparams\n"),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -q -p no:cacheprovider\n"),
        (".mocharc.json", "{}", '{"require": ["./test/setup.js"]}'),
        (".eslintrc.json", "{}", '{"rules": {"a/b": "error"}}'),
        ("tsconfig.json", "{}", '{"extends": "@tsconfig/node22"}'),
        ("other.json", "{}", '{"plugins": ["a"]}'),
        ("package.json", "{}", '{"files": ["dist"], "plugins": ["a"]}'),
        ("mypy.ini", "[mypy]\n", "no section at all ["),
        (
            "pyproject.toml",
            '[tool.pytest.ini_options]\naddopts = "-q"\n',
            (
                '[dependency-groups]\ntest = ["pytest-timeout >= 2.4"]\n'
                '[tool.pytest.ini_options]\naddopts = "-p timeout"\n'
            ),
        ),
    ],
)
def test_other_settings_are_not_told(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == set()
