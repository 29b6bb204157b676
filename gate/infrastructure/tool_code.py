"""Settings by which linters and test tools load code: plugins, presets, modules to require, hooks.

Nobody calls such code, and it runs on every developer's machine and in CI: whoever lints, runs it.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.infrastructure.facts import Fact, FileFacts
from gate.regex import regex

_INI: Final = regex(
    r"^(?:\.?(?:pylintrc|coveragerc|flake8)|mypy\.ini|\.mypy\.ini|setup\.cfg|tox\.ini|\.?pytest\.ini)$"
)
_DATA: Final = regex(
    r"^(?:\.(?:eslintrc|mocharc|babelrc|prettierrc|stylelintrc|nycrc|remarkrc|swcrc)|(?:babel|jest|stylelint|prettier)\.config"
    r"|tsconfig[\w.-]*)(?:\.json|\.ya?ml)?$"
)
_INI_KEYS: Final = frozenset(("plugins", "load-plugins", "load_plugins", "extension", "required_plugins"))
_TEXT_KEYS: Final = frozenset(("init-hook", "init_hook"))
_DATA_KEYS: Final = frozenset((
    "plugins", "require", "extends", "presets", "parser", "setupfiles", "setupfilesafterenv", "globalsetup",
    "testenvironment", "testrunner", "runner", "preset", "import", "loader",
))  # fmt: skip
_TABLES: Final = ("mypy", "coverage", "pylint", "pytest", "flake8")
_PREFIX: Final = {
    ".eslintrc": "eslint",
    ".stylelintrc": "stylelint",
    ".babelrc": "babel",
    "babel.config": "babel",
}
_OWN: Final = regex(r"^(?:eslint|stylelint|pylint|coverage|mypy|pytest|@babel|@eslint)(?:$|[:./_])")


def is_tool_file(path: str) -> bool:
    """Is this a tool's own file in the INI format?"""
    return bool(_INI.match(PurePosixPath(path).name.lower()))


def ini_code(text: str, path: str) -> FileFacts:
    """Of a file with sections."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=", ":"))
    try:
        parser.read_string(text, path)
    except (configparser.Error, ValueError):
        return FileFacts(subjects=[path])
    found: list[Fact] = []
    for section in parser.sections():
        for key, value in parser.items(section):
            found += _named(key, value or "", path, _line(text, key))
    return FileFacts(facts=found, subjects=[path])


def data_code(data: object, text: str, path: str) -> Iterator[Fact]:
    """Of JSON, YAML and TOML: a tool's own file, or its table in ``pyproject.toml`` and ``package.json``."""
    name = PurePosixPath(path).name.lower()
    if not isinstance(data, dict):
        return
    if name == "pyproject.toml":
        tools = data.get("tool")
        plugins = _declared_plugins(data)
        for tool in _TABLES:
            for key, value in _leaves(tools.get(tool) if isinstance(tools, dict) else None, 0):
                shown = " ".join(_texts(value))
                for fact in _named(key, shown, path, _line(text, key)):
                    if fact.subject.removeprefix(f"{path} loads ") not in plugins:
                        yield fact
    elif name == "package.json":
        for tool in ("eslintConfig", "mocha", "jest", "babel", "prettier", "stylelint", "ava", "nyc"):
            yield from _loaded(data.get(tool), text, path, f".{tool.lower().removesuffix('config')}rc")
    elif _DATA.match(name):
        yield from _loaded(data, text, path, name)


def _declared_plugins(data: dict[str, object]) -> frozenset[str]:
    """Plugins of pytest that the manifest asks for as packages: ``timeout`` of ``pytest-timeout``.

    pytest loads what is installed under such a name anyway, and a new package is told as that.
    """
    project, groups = data.get("project"), data.get("dependency-groups")
    found: list[str] = []
    for table in (project, groups):
        for _, value in _leaves(table, 0):
            found += _texts(value)
    names = (re.match(r"(pytest[-_.]([\w.-]*\w))", text.strip(), re.IGNORECASE) for text in found)
    words = [(name[1], name[2]) for name in names if name]
    return frozenset(one.lower().replace("-", "_").replace(".", "_") for pair in words for one in pair)


def _loaded(data: object, text: str, path: str, name: str) -> Iterator[Fact]:
    kind = next((word for start, word in _PREFIX.items() if name.startswith(start)), "")
    for key, value in _leaves(data, 0):
        if key.lower() in _DATA_KEYS and not (name.startswith("tsconfig") and key != "plugins"):
            for one in _texts(value):
                module = _package(one, key.lower(), kind)
                if module:
                    yield Fact(
                        "grant",
                        "tool-code",
                        f"{path} loads {module}",
                        _line(text, one),
                        f"{key}: {one}"[:120],
                    )


def _named(key: str, value: str, path: str, line: int) -> Iterator[Fact]:
    low = key.lower()
    if low in _TEXT_KEYS and value.strip():
        yield Fact("grant", "tool-text", f"{path} {low}", line, f"{key}: {value}"[:200])
    modules = re.split(r"[,\s]+", value) if low in _INI_KEYS else []
    if low == "addopts":
        modules = re.findall(r"(?:^|\s)-p[=\s]?(?!no:)([A-Za-z_][\w.]+)", value)
    for module in modules:
        bare = re.sub(r"[<>=!~\[;].*", "", module.rpartition(":")[0] or module).strip("'\"")
        if re.match(r"[A-Za-z_][\w.-]+$", bare) and not _OWN.match(bare):
            yield Fact("grant", "tool-code", f"{path} loads {bare}", line, f"{key}: {module}"[:120])


def _package(text: str, key: str, kind: str) -> str:
    """The package that a short name stands for, as ESLint and Babel spell it; "" for the project's files."""
    if text.startswith((".", "/", "<")) or _OWN.match(text) or "$" in text or text in ("node", "jsdom"):
        return ""
    word = {"plugins": "plugin", "extends": "config", "presets": "preset"}.get(key)
    if text.startswith("plugin:"):
        text, word = text.removeprefix("plugin:").rpartition("/")[0], "plugin"
    parts = text.split("/")
    if text.startswith("@"):
        if kind and len(parts) == 1:
            return f"{parts[0]}/{kind}-{word or 'plugin'}"
        return "/".join(parts[:2])
    return (
        parts[0] if not kind or not word or parts[0].startswith(f"{kind}-") else f"{kind}-{word}-{parts[0]}"
    )


def _leaves(data: object, depth: int) -> Iterator[tuple[str, object]]:
    for key, value in data.items() if isinstance(data, dict) and depth < 20 else ():
        yield str(key), value
        yield from _leaves(value, depth + 1)


def _texts(value: object) -> list[str]:
    """Names in a list: a text, or the first of a pair of name and options."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [str(value["name"])] if isinstance(value.get("name"), str) else []
    names = (
        [one[0] if isinstance(one, list) and one else one for one in value] if isinstance(value, list) else []
    )
    return [name for one in names for name in ([one] if isinstance(one, str) else _texts(one))]


def _line(text: str, word: str) -> int:
    place = text.lower().find(word.lower())
    return text.count("\n", 0, place) + 1 if place >= 0 else 1
