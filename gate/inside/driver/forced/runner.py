"""The verb ``force``: loads a module as call probes do and runs lines of it that nothing reached.

Item: ``path``, ``module`` and ``roots`` as for an import, ``targets`` ([line, column, ...]), ``seed`` (0 or
1), ``mark`` (in the text of what is made up), ``receivers`` (classes by their methods, receivers.py). What it
reports, ``forced`` ([[line, how far it came], ...]), is a hint; the trace is the evidence.
"""

from __future__ import annotations

import ast
import os
import random
import sys
import types
from collections.abc import Callable
from typing import Any

from .. import argument_values, call_runner
from . import calling, marks
from .places import FUNCTIONS, attribute_constants, call_constants, functions_around, global_constants
from .receivers import Receivers
from .rewrite import Rewriter
from .runtime import NAME, Runtime
from .soften import OWNER

EACH = 3.0
"""Seconds for one way of forcing one line."""


def run(item: dict[str, Any], load: Callable[[], types.ModuleType | None]) -> dict[str, Any]:
    """Force every target. ``load`` gives the module, None where it cannot be had."""
    marks.choose(int(item.get("seed", 0)), str(item.get("mark", "")))
    argument_values.lay_out()
    with open(item["path"], "rb") as file:
        tree = ast.parse(file.read())
    module = load()
    here = os.getcwd()
    told = []
    for line, column in ((t[0], t[1] if len(t) > 1 else None) for t in item["targets"]):
        target = Target(tree, line, column, item, module)
        told.append([line, target.force()])
        os.chdir(here)
    return {"outcome": "completed", "forced": told}


class Target:
    """One line. ``module``: the module as it was loaded, None where that failed."""

    def __init__(
        self, tree: ast.Module, line: int, column: int | None, item: dict[str, Any], module: Any
    ) -> None:
        self.tree = tree
        self.line = line
        self.column = column
        self.item = item
        self.module = module
        self.around = functions_around(tree, line)

    def force(self) -> str:
        """Force it in one way, in the other where that shows nothing of its own. Returns how far it came."""
        told = "not reached"
        for both in (False, True):
            receivers = Receivers(self.item.get("receivers") or {})
            runtime = Runtime((call_runner.CallTimeout,), self._constants(), receivers)
            random.seed(0)
            call_runner.bounded(lambda r=runtime, b=both: self._once(r, b), EACH)  # type: ignore[misc]
            if runtime.concrete:
                return "reached"
            told = "reached with made-up values" if runtime.reached else told
        return told

    def _constants(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for node in self.around:
            if isinstance(node, ast.ClassDef):
                found.update(attribute_constants(self.tree, node.name))
        return found

    def _once(self, runtime: Runtime, both: bool) -> None:
        try:
            if not (self.module is not None and self._in_module(runtime, both)):
                self._whole(runtime, both)
        except runtime.passing:
            raise
        except BaseException:
            return

    def _in_module(self, runtime: Runtime, both: bool) -> bool:
        """The function alone, in the module as it is. False where the module has no such place."""
        at = next((n for n, node in enumerate(self.around) if isinstance(node, FUNCTIONS)), None)
        if at is None:
            return False
        owner: Any = None
        for node in self.around[:at]:
            owner = vars(owner if owner is not None else self.module).get(node.name)
            if not isinstance(owner, type):
                return False
        node = self.around[at]
        forced = Rewriter(self.line, self.column, owner=self.around[at - 1].name if at else "", both=both)
        made = ast.Module(body=[forced.function(node)], type_ignores=[])
        spaces = vars(self.module)
        spaces[NAME] = runtime
        spaces[OWNER] = owner
        for name, value in global_constants(self.tree).items():
            if spaces.get(name) is None:
                spaces[name] = value
        held: dict[str, Any] = {}
        code = compile(made, os.path.abspath(self.item["path"]), "exec", dont_inherit=True)
        _supply(code, spaces)
        exec(code, spaces, held)
        known = call_constants(self.tree, node, bound=owner is not None)
        function = held[node.name]
        if owner is None:
            calling.call(function, runtime, known, None)
        else:
            calling.call_member(owner, node.name, runtime, function, known)
        return True

    def _whole(self, runtime: Runtime, both: bool) -> None:
        """The whole module, forced from its top to the line."""
        tree = Rewriter(self.line, self.column, both=both).module(_copy(self.tree))
        path = os.path.abspath(self.item["path"])
        code = compile(tree, path, "exec", dont_inherit=True)
        name = self.item.get("module") or "__main__"
        module = types.ModuleType(name)
        module.__file__ = path
        module.__package__ = name if path.endswith("__init__.py") else name.rpartition(".")[0]
        spaces = vars(module)
        spaces[NAME] = runtime
        if os.path.dirname(path) not in sys.path:
            sys.path.insert(0, os.path.dirname(path))
        _supply(code, spaces)
        exec(code, spaces)


def _copy(tree: ast.Module) -> ast.Module:
    import copy

    return copy.deepcopy(tree)


def _supply(code: types.CodeType, spaces: dict[str, Any]) -> None:
    """Marks for names that nothing binds: a global that only a run from the start would have made."""
    import builtins

    todo = [code]
    while todo:
        one = todo.pop()
        for name in one.co_names:
            if name not in spaces and not hasattr(builtins, name) and not name.startswith("__"):
                spaces[name] = marks.Mark()
        todo += [c for c in one.co_consts if isinstance(c, types.CodeType)]
