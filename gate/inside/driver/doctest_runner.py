"""Runs the examples in a module's docstrings, or in a text, as ``doctest`` does; their output is left out."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from typing import Any


class NoDebugger:
    """In the place of doctest's pdb, which would read ``~/.pdbrc`` and ``~/.inputrc`` as nobody's act."""

    def __init__(self, *_: object) -> None:
        pass

    def reset(self) -> None:
        """Nothing to forget."""

    def set_continue(self) -> None:
        """Nothing to go on with."""

    def set_trace(self, *_: object, **__: object) -> None:
        """No stop: nobody is there to answer."""


def run(item: dict[str, Any]) -> dict[str, Any]:
    """``tests`` counts what became of the examples. Raises what importing the module raises."""
    import doctest  # most jobs start without

    setattr(doctest, "_OutputRedirectingPdb", NoDebugger)  # noqa: B010
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        if item.get("module"):
            module = importlib.import_module(item["module"])
            failed, tried = doctest.testmod(module)
        else:
            failed, tried = doctest.testfile(os.path.abspath(item["path"]), module_relative=False)
    return {"outcome": "completed", "tests": {"passed": tried - failed, "failed": failed}}
