"""Modules of other packages that are imported when something of them is first used.

A check imports a thousand modules, and what reads YAML or goes to a package index is needed by a few of them.
A type checker sees the module itself::

    if TYPE_CHECKING:
        import yaml
    else:
        yaml = late_module("yaml")
"""

from __future__ import annotations

from importlib import import_module


class _LateModule:
    """Stands for a module. What was asked of it once stays in its ``__dict__``."""

    def __init__(self, name: str) -> None:
        self._late_name = name

    def __getattr__(self, name: str) -> object:
        value = getattr(import_module(self._late_name), name)
        self.__dict__[name] = value
        return value


def late_module(name: str) -> object:
    """The module of that name, not imported yet. A name that there is none of is told when it is used."""
    return _LateModule(name)
