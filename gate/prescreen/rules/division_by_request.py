"""A number from a request divides another.

Zero ends the request with an error; a client can do that as often as it likes.

Test for zero first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_NUMBERS = frozenset({"int", "float", "decimal.Decimal", "sum"})


@rule(
    "py.division-by-request",
    "Division by a number from a request",
    severity="medium",
    confidence="medium",
    topic="resource",
    cwe=(369,),
    why="A zero in the request raises an error that nobody handles.",
    fix="Answer with an error of your own when the number is zero.",
)
def check(module: Module) -> Iterator[Hit]:
    """/, // and % by numbers of a request that no test looked at and no handler catches."""
    for node in module.all(ast.BinOp):
        if not isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
            continue
        divisor = node.right
        if isinstance(node.op, ast.Mod) and not isinstance(divisor, ast.Name | ast.Call):
            continue
        if not _from_request(module, divisor) or _texty(module, node.left):
            continue
        if not Flow(module).tested(node, divisor, plain_too=True) and not _caught(module, node):
            yield Hit(node=node, message="A zero in the request ends this with an error.")


def _from_request(module: Module, expr: ast.expr) -> bool:
    """Numbers made by int() and float() of a request: conversions do not stop this flow."""
    flow = Flow(module)
    for node in flow.trace(expr).nodes:
        if not isinstance(node, ast.Call) or _NUMBERS.isdisjoint(module.names_of(node.func)):
            continue
        if any(REQUEST in flow.kinds(given) for given in node.args):
            return True
    return False


def _texty(module: Module, expr: ast.expr) -> bool:
    return isinstance(module.const(expr), str | bytes) or isinstance(expr, ast.JoinedStr)


def _caught(module: Module, node: ast.AST) -> bool:
    inner = node
    for up in module.above(node):
        if isinstance(up, ast.Try) and inner in up.body:
            return True
        inner = up
    return False
