"""The project's installed packages, in a process that the driver forked: made importable, and told."""

from __future__ import annotations

import os
import sys
import types
from typing import Any

FOLDERS: list[str] = []
"""The folder of the installed packages, where there are any (gate/sandbox/dependencies/layers.py)."""
_MOST = 3000
"""Modules told of one item."""
_INTERPRETER = tuple(f"{prefix}/lib" for prefix in {sys.prefix, sys.base_prefix, "/usr", "/usr/local"})
"""Where interpreters keep their library and packages (``lib``, ``lib64``), before code can say otherwise."""


def add() -> dict[str, Any]:
    """Make them importable as an interpreter does at its start, ``.pth`` files and all: after the standard
    library, before what the image has. Empty when that went well, else how the item ended.
    """
    for folder in FOLDERS:
        import site

        os.environ["PYTHONUSERBASE"] = folder  # for interpreters that the code starts
        os.environ["PATH"] = f"{folder}/bin:{os.environ.get('PATH', '')}"
        before = list(sys.path)
        try:
            site.addsitedir(_site(folder))
        except SystemExit:
            return {"outcome": "ended", "exception": "SystemExit"}  # and so would every interpreter
        added = [entry for entry in sys.path if entry not in before]
        at = next(
            (n for n, e in enumerate(before) if e.endswith(("site-packages", "dist-packages"))), len(before)
        )
        rest = before[at:]
        if os.path.exists(f"{_site(folder)}/.gate-complete"):  # a virtual environment: nothing of the image's
            rest = [entry for entry in rest if not entry.endswith(("site-packages", "dist-packages"))]
        sys.path[:] = [*before[:at], *added, *rest]
    return {}


def loaded() -> list[str]:
    """Names of the modules from these packages that this process has loaded, the earliest first."""
    if not FOLDERS:
        return []
    places = tuple(_site(folder) + "/" for folder in FOLDERS)
    names = []
    for name, module in list(sys.modules.items()):
        if type(name) is not str or not issubclass(type(module), types.ModuleType):
            continue  # a module may say of itself to be one, and not be
        known = types.ModuleType.__getattribute__(module, "__dict__")  # asks none of the module's own code
        origin = getattr(known.get("__spec__"), "origin", None)
        if type(origin) is str and origin.startswith(places):
            names.append(name)
    return names[:_MOST]


def distributions() -> list[str]:
    """The folders of the packages' metadata (``*.dist-info``)."""
    found = []
    for folder in FOLDERS:
        try:
            entries = sorted(os.listdir(_site(folder)))
        except OSError:
            continue
        found += [f"{_site(folder)}/{entry}" for entry in entries if entry.endswith(".dist-info")]
    return found


def holds(path: str) -> bool:
    """Is this a file of an installed package or of the interpreter's own library? By place: a tree may well
    have a folder ``site-packages`` of its own. ``path`` as ``co_filename`` and ``__file__`` give it; one that
    is not absolute lies in the tree.
    """
    return path.startswith((*_INTERPRETER, *(_site(folder) + "/" for folder in FOLDERS)))


def _site(folder: str) -> str:
    return f"{folder}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
