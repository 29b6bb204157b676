"""What the forward reading says of an expression: who decides it where it is used, if that is certain."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.values.domain import UNSURE, Function, Value
from gate.prescreen.python_ast.values.expressions import GaveUpError
from gate.prescreen.python_ast.values.interpreter import Interpreter, Passed
from gate.prescreen.python_ast.values.tree import Sources

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST = 400
"""Functions of one file that are read."""


class Reach:
    """Reads each function of a module once, when somebody asks for something in it."""

    def __init__(self, module: Module, passed: Passed) -> None:
        self._module = module
        self._reading = Interpreter(module, Sources(module.others), passed)
        self._done: set[ast.AST] = set()
        self._given_up: set[ast.AST] = set()
        self._waiting: dict[ast.AST, Function] = {}
        self._asked = 0

    def value(self, node: ast.expr) -> Value | None:
        """The value, joined over all ways to it; None where the reading does not say.

        A value without taint is one that the program itself chose, or nothing gets there at all.
        """
        function = self._outermost(node)
        if function is None:
            return None
        self._read(function)
        if function in self._given_up:
            return None
        inner = self._module.function_of(node)
        if isinstance(inner, ast.Lambda) or (inner is not None and inner not in self._done):
            return None
        found = self._reading.seen.get(node)
        if found is None:
            return Value() if self._is_read(node) else None
        return None if UNSURE in found.taint else found

    def _is_read(self, node: ast.expr) -> bool:
        """True when the node stands where the reading would have come by."""
        kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FormattedValue)
        return not any(isinstance(up, kinds) for up in self._module.above(node))

    def _outermost(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        found = [up for up in self._module.above(node) if isinstance(up, _FUNCTIONS)]
        return found[-1] if found else None

    def _read(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if function in self._done or function in self._given_up:
            return
        self._asked += 1
        self._reading.steps = 0
        self._reading.started = time.process_time()
        try:
            if self._asked > _MOST:
                raise GaveUpError
            for one in self._all(Function(function, self._module)):
                self._done.add(one.node)
        except (GaveUpError, RecursionError):
            self._given_up.add(function)
        finally:
            self._reading.spent += time.process_time() - self._reading.started

    def _all(self, first: Function) -> Iterator[Function]:
        todo = [first]
        while todo:
            one = todo.pop()
            if one.node in self._done:
                continue
            todo.extend(self._reading.enter(one))
            yield one


def reach_of(module: Module, passed: Passed) -> Reach:
    """The reading of this module, made once; ``passed`` says what calls pass to a parameter."""
    return module.kept("reach", lambda asked: Reach(asked, passed))
