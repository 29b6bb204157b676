"""Annotations that nobody evaluates, as in Python 3.14, for code that was written for it.

Since then an annotation may name what is only imported for type checkers, or defined further down; an older
interpreter ends the import with a NameError. Such a file is compiled as if it began with ``from __future__
import annotations``: the same code otherwise. Nothing is changed before an import failed for that.
"""

from __future__ import annotations
import __future__

import ast
import os
import sys
from importlib.machinery import SourceFileLoader
from typing import Any

from .installed_packages import holds

FLAG = __future__.annotations.compiler_flag
_MOST = 4 << 20
ALLOWED: list[bool] = []
"""Not empty once annotations are left alone in this process."""


def allow(error: BaseException) -> bool:
    """True where annotations are left alone from now on, since that is what the error came from."""
    if ALLOWED or sys.version_info >= (3, 14) or not isinstance(error, NameError):
        return False
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    name = str(getattr(error, "name", None) or "")
    if step is None or not name or not _is_annotation(step.tb_frame.f_code.co_filename, step.tb_lineno, name):
        return False
    ALLOWED.append(True)
    tree = os.getcwd() + os.sep
    _leave_alone(tree)
    _forget(tree)
    return True


def _is_annotation(path: str, line: int, name: str) -> bool:
    """Does an annotation name that on this line of the file?"""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(_MOST))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            said = getattr(node, field, None)
            if not isinstance(said, ast.expr) or not said.lineno <= line <= (said.end_lineno or said.lineno):
                continue
            if any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(said)):
                return True
    return False


def _leave_alone(tree: str) -> None:
    """Compile the tree's own files so from here on; installed packages stay as they are."""
    plain: Any = SourceFileLoader.source_to_code

    def source_to_code(self: Any, data: Any, path: Any, *rest: Any, **named: Any) -> Any:
        if isinstance(path, str) and os.path.abspath(path).startswith(tree) and not holds(path):
            return compile(data, path, "exec", flags=FLAG, dont_inherit=True)
        return plain(self, data, path, *rest, **named)

    SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign]


def _forget(tree: str) -> None:
    """Let the tree's modules be imported anew, in the order of a first import: where half of them are there
    already, another one of a circle of imports comes first.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        ours = isinstance(file, str) and os.path.abspath(file).startswith(tree)
        if ours and not holds(str(file)) and name != "__main__":
            del sys.modules[name]
