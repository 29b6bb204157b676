"""What became of an item, from the exception it ended with: a hint, as all that the driver says."""

from __future__ import annotations

import os
from typing import Any

from . import program_runner, put_off_imports

Report = dict[str, Any]


def describe(error: BaseException, roots: list[str]) -> Report:
    """An exception as an outcome, with what ``lacks`` where it came from a package that cannot be loaded."""
    report = _outcome(error, roots)
    lacks = put_off_imports.unloadable(error, roots)
    return {**report, "lacks": lacks[:100]} if lacks else report


def _outcome(error: BaseException, roots: list[str]) -> Report:
    """A module that is neither installed nor in the tree is *missing*, and so
    is what a build would have made (`_version.py`, compiled parts) and installed metadata.
    """
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
        if type(error).__name__ == "PackageNotFoundError":  # importlib.metadata: the tree is not installed
            return {"outcome": "missing", "missing": f"{error.name[:80]} to be installed"}
        top, _, part = error.name.partition(".")
        known = any(os.path.exists(os.path.join(root, top + end)) for root in roots for end in ("", ".py"))
        if part or not known:  # a part of the tree's own package is missing: made by its build, or never
            return {"outcome": "missing", "missing": (error.name if known else top)[:100]}
    if isinstance(error, program_runner.MissingProgramError):
        return {"outcome": "missing", "missing": error.name}
    if isinstance(error, SystemExit):
        return {"outcome": "exited", "exception": "SystemExit", "message": _text(error.code)}
    return {"outcome": "exception", "exception": type(error).__name__[:100], "message": _text(error)}


def _text(value: object) -> str:
    """At most 200 characters of what may be any object with any ``__str__``."""
    try:
        return str(value)[:200]
    except BaseException:
        return type(value).__name__
