"""Branches that can never run, because their condition is a constant of the function itself.

Only literals and local names with one constant value decide. A module's names and attributes may be changed
from elsewhere while the program runs, so they decide nothing: what could still be reached is not dead.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

from gate.prescreen.python_ast.constants import NOT_CONST
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scope import FunctionNode

_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_dead(module: Module, node: ast.AST) -> bool:
    """True when a constant condition around ``node``, in its function, keeps it from ever running."""
    known: dict[ast.AST, bool] = module.kept("dead code", lambda _: {})
    path: list[ast.AST] = []
    dead = False
    below: ast.AST = node
    for above in module.above(node):
        if below in known:
            dead = known[below]
            break
        path.append(below)
        if isinstance(below, _FUNCTIONS):
            break
        if _excluded(module, above, below):
            dead = True
            break
        below = above
    known.update(dict.fromkeys(path, dead))
    return dead


def _excluded(module: Module, above: ast.AST, below: ast.AST) -> bool:
    """True when ``below`` is a part of ``above`` that a constant condition there skips."""
    if isinstance(above, ast.If | ast.IfExp):
        if below is above.test:
            return False
        taken = truth(module, above.test)
        if taken is None:
            return False
        body = above.body if isinstance(above.body, list) else [above.body]
        return (below in body) is not taken
    if isinstance(above, ast.While):
        return below in above.body and truth(module, above.test) is False
    if isinstance(above, ast.Match) and isinstance(below, ast.match_case):
        chosen = _chosen(module, above)
        return chosen is not None and chosen is not below
    return False


def truth(module: Module, test: ast.expr) -> bool | None:
    """Whether a condition of literals and constant local names holds; None where that is not certain."""
    if isinstance(test, ast.BoolOp):
        values = [truth(module, value) for value in test.values]
        decides = isinstance(test.op, ast.Or)
        if decides in values:
            return decides
        return None if None in values else not decides
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(module, test.operand)
        return None if inner is None else not inner
    try:
        if isinstance(test, ast.Compare):
            action = _COMPARISONS.get(type(test.ops[0])) if len(test.ops) == 1 else None
            left, right = _fixed(module, test.left), _fixed(module, test.comparators[0])
            if action is None or left is NOT_CONST or right is NOT_CONST:
                return None
            return bool(action(left, right))
        value = _fixed(module, test)
    except (TypeError, ValueError):
        return None
    return None if value is NOT_CONST else bool(value)


def _chosen(module: Module, match: ast.Match) -> ast.match_case | None:
    """The case that a constant subject always takes; None where a pattern is more than literals."""
    subject = _fixed(module, match.subject)
    if subject is NOT_CONST:
        return None
    for case in match.cases:
        if case.guard is not None:
            return None
        patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        for pattern in patterns:
            if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
                return case
            if not isinstance(pattern, ast.MatchValue):
                return None
            value = _fixed(module, pattern.value)
            if value is NOT_CONST:
                return None
            if value == subject:
                return case
    return None


def _fixed(module: Module, expr: ast.expr) -> object:
    """The constant value of an expression whose names all have one value in this very function."""
    function = module.function_of(expr)
    for node in module.within(expr):
        if isinstance(node, ast.Name) and not _has_one_value(module, node, function):
            return NOT_CONST
    return module.const(expr)


def _has_one_value(module: Module, name: ast.Name, function: FunctionNode | None) -> bool:
    scope = module.scopes.get(name)
    while scope is not None and scope.is_comprehension:
        scope = scope.parent
    if function is None or scope is None or scope.node is not function or name.id in scope.outer:
        return False
    bindings = scope.bindings.get(name.id, [])
    return len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].at < _place(name)


def _place(name: ast.Name) -> tuple[int, int]:
    return (name.lineno, name.col_offset)
