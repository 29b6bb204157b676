"""Which words of a project's ``addopts`` are kept: those that decide how tests are found and imported.

The others ask for reports, for processes of their own or for plugins that measure.
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import shlex
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
