"""Reads which tests are left out: pytest's and Jest's settings, and what a conftest.py does with the answer.

Runs in the limited child, at base and at head. Nothing is imported or run.
"""

from __future__ import annotations

import ast
import configparser
import json
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.unparse import unparsed
from gate.protections.conditions import last_name
from gate.protections.test_settings.facts import Kind, LeftOut, TestSettings

NAMES: Final = (
    "pyproject.toml", "pytest.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "package.json",
    "jest.config.json", "conftest.py",
)  # fmt: skip
_SECTIONS: Final = ("pytest", "tool:pytest")
_PATHS: Final = ("--ignore", "--ignore-glob", "--deselect", "--testPathIgnorePatterns")
_HOOKS: Final = frozenset({"pytest_sessionfinish", "pytest_unconfigure", "pytest_terminal_summary"})
_IGNORED: Final = ("collect_ignore", "collect_ignore_glob")
_CUT: Final = 160


def read(path: str, data: bytes, options: Mapping[str, object]) -> TestSettings:  # noqa: ARG001
    """For scan_isolated. Raises what the parsers raise."""
    text = data.decode("utf-8", "replace")
    name = path.rpartition("/")[2]
    if name == "conftest.py":
        found = [*_conftest(ast.parse(data))]
    elif name.endswith(".json"):
        found = [*_jest(json.loads(text), text)]
    elif name.endswith(".toml"):
        found = [*_toml(tomllib.loads(text), text)]
    else:
        found = [*_ini(text)]
    return TestSettings(left_out=tuple(found))


def _toml(value: Mapping[str, object], text: str) -> Iterator[LeftOut]:
    tool = value.get("tool")
    pytest = tool.get("pytest") if isinstance(tool, dict) else value.get("pytest")
    options = pytest.get("ini_options", pytest) if isinstance(pytest, dict) else None
    if isinstance(options, dict):
        yield from _options(options.get("addopts"), text)
        yield from _paths(options.get("norecursedirs"), "norecursedirs", text)


def _ini(text: str) -> Iterator[LeftOut]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    for section in _SECTIONS:
        if parser.has_section(section):
            yield from _options(parser.get(section, "addopts", fallback=""), text)
            dirs = parser.get(section, "norecursedirs", fallback="")
            yield from _paths(dirs.split(), "norecursedirs", text)


def _options(given: object, text: str) -> Iterator[LeftOut]:
    """``-k 'not may_not'``, ``--ignore-glob=*permissions*`` of pytest's own options."""
    words = [str(one) for one in given] if isinstance(given, list) else []
    if isinstance(given, str):
        words = shlex.split(given, comments=False)
    for at, word in enumerate(words):
        option, mark, value = word.partition("=")
        value = value if mark else (words[at + 1] if at + 1 < len(words) else "")
        if option in _PATHS and value:
            yield _left("path", value, f"{option} {value}", text)
        elif option == "-k" and value:
            yield from _names(value, f"-k {value!r}", text)
        elif option.startswith("-k") and len(option) > 2:
            yield from _names(word[2:], word, text)


def _names(expression: str, shown: str, text: str) -> Iterator[LeftOut]:
    """The names behind *not*."""
    words = expression.replace("(", " ( ").replace(")", " ) ").split()
    for at, word in enumerate(words):
        if word == "not":
            name = next((w for w in words[at + 1 :] if w != "("), "")
            if name:
                yield _left("name", name, shown, text)


def _paths(given: object, name: str, text: str) -> Iterator[LeftOut]:
    for one in given if isinstance(given, list) else []:
        yield _left("path", str(one), f"{name}: {one}", text)


def _left(kind: Kind, what: str, shown: str, text: str) -> LeftOut:
    at = max(text.find(what), 0)
    return LeftOut(kind=kind, what=what, text=shown[:_CUT], line=text.count("\n", 0, at) + 1)


def _jest(value: object, text: str) -> Iterator[LeftOut]:
    if not isinstance(value, dict):
        return
    jest = value.get("jest", value if "scripts" not in value else {})
    if isinstance(jest, dict):
        yield from _paths(jest.get("testPathIgnorePatterns"), "testPathIgnorePatterns", text)
    scripts = value.get("scripts")
    test = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(test, str):
        if test.rstrip().endswith(("|| true", "|| exit 0", "; true", "; exit 0")):
            yield _left("answer", test, f"test: {test}", text)
        try:
            yield from _options(test, text)
        except ValueError:  # no words of a shell
            return


def _conftest(tree: ast.Module) -> Iterator[LeftOut]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from _assigned(node)
        elif isinstance(node, ast.FunctionDef) and node.name in _HOOKS:
            for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
                if last_name(call) in ("_exit", "exit") and call.args and not _is_failure(call.args[0]):
                    yield _node("answer", node.name, call)


def _assigned(node: ast.Assign) -> Iterator[LeftOut]:
    for target in node.targets:
        name = last_name(target)
        if isinstance(target, ast.Attribute) and name in ("exitstatus", "testsfailed"):
            if not _is_failure(node.value):
                yield _node("answer", name, node)
        elif isinstance(target, ast.Attribute) and name == "outcome":
            if isinstance(node.value, ast.Constant) and node.value.value == "passed":
                yield _node("answer", name, node)
        elif name in _IGNORED and isinstance(node.value, ast.List | ast.Tuple):
            for item in node.value.elts:
                if isinstance(item, ast.Constant):
                    yield _node("path", str(item.value), item)


def _is_failure(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value != 0


def _node(kind: Kind, what: str, node: ast.AST) -> LeftOut:
    text = " ".join(unparsed(node).split())[:_CUT]
    return LeftOut(kind=kind, what=what, text=text, line=getattr(node, "lineno", 1))
