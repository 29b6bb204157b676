"""What must hold where a condition decides the way: ``mode == "unlock"`` says what ``mode`` is there."""

from __future__ import annotations

import ast
from typing import Any

from .soften import helper, private

_VALUES = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp)
"""What an equality may bind a name to: evaluating it does nothing."""


def assume(test: ast.expr, value: bool, names: set[str], owner: str = "") -> list[ast.stmt]:
    """Assignments after which the condition has this value, as far as it is an easy one. ``names``: the
    names that may be bound.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return assume(test.operand, not value, names, owner)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is value:
        return [s for part in test.values for s in assume(part, value, names, owner)]
    if isinstance(test, ast.BoolOp):
        return assume(test.values[0], value, names, owner)
    if isinstance(test, ast.Call) and value:
        return _call(test, names)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return []
    left, kind, right = test.left, test.ops[0], test.comparators[0]
    equal = isinstance(kind, (ast.Eq, ast.Is)) if value else isinstance(kind, (ast.NotEq, ast.IsNot))
    if equal:
        if isinstance(left, ast.Constant) or not _can_bind(left, names):
            left, right = right, left
        return _bind(left, right, names, owner) if isinstance(right, _VALUES) else []
    inside = isinstance(kind, ast.In) if value else isinstance(kind, ast.NotIn)
    if inside and isinstance(right, (ast.Tuple, ast.List, ast.Set)) and right.elts:
        return _bind(left, right.elts[0], names, owner) if isinstance(right.elts[0], ast.Constant) else []
    return []


def _can_bind(place: ast.expr, names: set[str]) -> bool:
    place = place.target if isinstance(place, ast.NamedExpr) else place
    return isinstance(place, ast.Attribute) or (isinstance(place, ast.Name) and place.id in names)


def _bind(place: ast.expr, value: ast.expr, names: set[str], owner: str) -> list[ast.stmt]:
    if isinstance(place, ast.NamedExpr):
        place = place.target
    if isinstance(place, ast.Name) and place.id in names:
        return [ast.Assign(targets=[ast.Name(id=place.id, ctx=ast.Store())], value=value)]
    if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name):
        name: ast.expr = ast.Constant(value=private(place.attr, owner))
        return [ast.Expr(value=helper("put", ast.Name(id=place.value.id, ctx=ast.Load()), name, value))]
    return []


def _call(test: ast.Call, names: set[str]) -> list[ast.stmt]:
    """``isinstance(x, T)`` and ``x.startswith("a")``."""
    function: Any = test.func
    if getattr(function, "id", "") == "isinstance" and len(test.args) == 2:
        first = test.args[0]
        if isinstance(first, ast.Name) and first.id in names:
            made = helper("be", ast.Name(id=first.id, ctx=ast.Load()), test.args[1])
            return [ast.Assign(targets=[ast.Name(id=first.id, ctx=ast.Store())], value=made)]
    if getattr(function, "attr", "") == "startswith" and len(test.args) == 1:
        place, word = function.value, test.args[0]
        if isinstance(place, ast.Name) and place.id in names and isinstance(word, ast.Constant):
            rest = ast.Name(id=place.id, ctx=ast.Load())
            joined = helper("op", ast.Constant(value="add"), word, rest)
            return [ast.Assign(targets=[ast.Name(id=place.id, ctx=ast.Store())], value=joined)]
    return []
