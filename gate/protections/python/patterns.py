"""Patterns that are filled in, in Python: written in the program, or given to a function by who calls it.

``"{line.__init__.__globals__}"`` in a pattern of somebody else reads what the program knows.
Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.protections.facts import Strength
from gate.protections.python.guards import source
from gate.protections.strengths import kept

_OWN: Final = "patterns of the program's own"


def pattern_strengths(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Strength]:
    """Who wrote what one function fills in; nothing where it fills in nothing."""
    asked = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    own: ast.expr | None = None
    for one in ast.walk(node):
        match one:
            case ast.Call(func=ast.Attribute(value=pattern, attr="format" | "format_map")):
                things = [*one.args, *(k.value for k in one.keywords)]
                if _is_given(pattern, asked) and any(not isinstance(thing, ast.Constant) for thing in things):
                    yield kept(_OWN, False, source(one), one.lineno)
                    return
                own = own or one
            case ast.Return(value=ast.JoinedStr() as text):
                own = own or text
    if own is not None:
        yield kept(_OWN, True, source(own), own.lineno)


def _is_given(pattern: ast.expr, asked: set[str]) -> bool:
    """A parameter, or one with what stands in for it where it is empty."""
    values = pattern.values if isinstance(pattern, ast.BoolOp) else [pattern]
    return any(isinstance(value, ast.Name) and value.id in asked for value in values)
