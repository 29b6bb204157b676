"""Which words of a project's ``addopts`` are kept: those that decide how tests are found and imported.

The others ask for reports, for processes of their own or for plugins that measure.
"""

from __future__ import annotations

import configparser
import importlib
import inspect
import pathlib
import shlex
import sys
from typing import Any

_KEPT = ("--import-mode", "--ds", "--dc", "--asyncio-mode", "--anyio-mode", "--confcutdir", "--rootdir")
_NOT_THESE = ("no:", "xdist", "pytest_cov", "randomly")
"""Plugins (``-p``) that are not asked for."""


def kept(paths: list[str]) -> list[str]:
    """The words to keep, from the configuration that pytest finds for these paths. Empty when in doubt."""
    try:
        found = _configured(paths)
        words = shlex.split(found) if isinstance(found, str) else [str(word) for word in found]
    except Exception:  # of whichever version, or of what the file holds
        return []
    out: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        if name in _KEPT:
            out += [word] if equals else [word, next(rest, "")]
        elif word.startswith("-p") and not word.startswith("--"):
            plugin = word[2:] or next(rest, "")
            if not plugin.strip().startswith(_NOT_THESE):
                out += ["-p", plugin.strip()]
    return out


def own_plugins() -> list[str]:
    """Words that load the plugins which the project here brings itself: its installed entry points would, and
    it is not installed. Empty where it is, or brings none.
    """
    try:
        named = _declared()
        metadata: Any = importlib.import_module("importlib.metadata")
        found = metadata.entry_points()
        there = found.select(group=_GROUP) if hasattr(found, "select") else found.get(_GROUP, ())
        known = {one.name for one in there}
    except Exception:  # of whichever version, or of what the file holds
        return []
    modules = [module.partition(":")[0].strip() for name, module in named.items() if name not in known]
    return [word for module in modules for word in ("-p", module)]


_GROUP = "pytest11"


def _declared() -> dict[str, str]:
    """The entry points for pytest in ``pyproject.toml`` and ``setup.cfg``: modules by name."""
    config = configparser.ConfigParser()
    config.read("setup.cfg", encoding="utf-8")
    lines = config.get("options.entry_points", _GROUP, fallback="").splitlines()
    named = {name.strip(): module.strip() for name, sign, module in (x.partition("=") for x in lines) if sign}
    try:
        toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
        with open("pyproject.toml", "rb") as file:
            data = toml.load(file)
    except (OSError, ImportError):
        return named
    for table in (
        data.get("project", {}).get("entry-points"),
        data.get("tool", {}).get("poetry", {}).get("plugins"),
    ):
        named |= (table or {}).get(_GROUP, {})
    return named


def _configured(paths: list[str]) -> Any:
    """``addopts`` as a text or a list of words."""
    determine: Any = importlib.import_module("_pytest.config.findpaths").determine_setup
    given = {
        "inifile": None,
        "override_ini": None,
        "args": paths,
        "rootdir_cmd_arg": None,
        "invocation_dir": pathlib.Path.cwd(),
    }
    asked = inspect.signature(determine).parameters
    found = determine(**{name: given.get(name) for name in asked if name in given or name == "config"})
    value = found[2].get("addopts", "")
    return getattr(value, "value", value)
