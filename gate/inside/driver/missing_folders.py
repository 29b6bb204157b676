"""Folders that a project keeps data or logs in and no fresh clone has: its own set-up makes them (``mkdir
data``).

Used only where the code could not be loaded without.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_NO_DATABASE = "unable to open database file"
"""SQLite's whole message: it names no path."""
_DEEPEST = 8
_WATCHED: set[str] = set()


def make(error: BaseException) -> bool:
    """Make the folder of the tree that a file could not be opened in. False where none is missing."""
    found: BaseException | None = error
    for _ in range(_DEEPEST):
        if found is None:
            return False
        if isinstance(found, FileNotFoundError) and isinstance(found.filename, str):
            if _made(found.filename):
                return True
        elif type(found).__name__ == "OperationalError" and _NO_DATABASE in str(found):
            return _watch()
        found = found.__cause__ or found.__context__
    return False


def _made(file: str) -> bool:
    """Make the folder of a file, where it is in the tree and missing."""
    tree = os.path.realpath(os.getcwd())
    folder = os.path.realpath(os.path.dirname(os.path.abspath(file)))
    if not folder.startswith(tree + os.sep) or os.path.lexists(folder):
        return False
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return False
    return True


def _watch() -> bool:
    """From now on, make the folder of each SQLite database before it is opened. False when that is so."""
    if _WATCHED:
        return False
    _WATCHED.add("sqlite3.connect")
    sys.addaudithook(_heard)
    return True


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _WATCHED and arguments and isinstance(arguments[0], (str, bytes, os.PathLike)):
        _made(os.fsdecode(arguments[0]))
