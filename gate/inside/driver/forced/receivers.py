"""Objects of the project's own classes, for a forced call on a stand-in: ``reporter.report(x)`` of a caller
that nobody played does nothing, of the class that has ``report`` it does what it would do.
"""

from __future__ import annotations

import importlib
from typing import Any

from .. import call_runner


class Receivers:
    """``classes``: for the name of a method the classes that have it, each a module and a dotted name."""

    def __init__(self, classes: dict[str, list[list[str]]]) -> None:
        self._classes = classes

    def method(self, name: str) -> Any:
        """The method of an object of the first class that can be made; None where there is none."""
        for module, owner in self._classes.get(name, ()):
            try:
                held: Any = importlib.import_module(module)
                for word in owner.split("."):
                    held = getattr(held, word)
                return getattr(call_runner._instance(held), name)
            except call_runner.CallTimeout:
                raise
            except BaseException:
                continue
        return None
