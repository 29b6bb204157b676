"""A balance or a stock is read, tested and written back, and nothing keeps two requests apart meanwhile.

Two requests at the same time both see enough, and both take it: a voucher is used twice, a balance goes below
zero.

Let the database decide in one statement (`UPDATE ... SET balance = balance - ? WHERE balance >= ?`,
`F()`), or lock the row first (`select_for_update`, `with_for_update`, `FOR UPDATE`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import is_django_view, is_route
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.scope import FunctionNode, start_of
from gate.prescreen.python_ast.stored.reads import stored_reads
from gate.prescreen.python_ast.stored.statements import written
from gate.regex import regex

_COUNTED = regex(
    r"(?:^|_)(?:balance|credits?|stock|quantity|remaining|seats?|tickets?_left|uses?_left|points|funds|wallet"
    r"|inventory|redeemed|used_count|usage_count|available)(?:_|$)",
    re.IGNORECASE,
)
"""Names of what somebody may take only so much of."""
_LOCKS = regex(
    r"for_update|\block|Lock\b|FOR UPDATE|BEGIN (?:IMMEDIATE|EXCLUSIVE)|serializable|advisory", re.IGNORECASE
)


@rule(
    "py.check-then-act",
    "Tested first and written back later",
    severity="high",
    confidence="medium",
    topic="weak-check",
    cwe=(362, 367),
    why="Two requests at the same time both pass the test, and both take what is there once.",
    fix="Test and write in one statement, or lock the row before it is read.",
)
def check(module: Module) -> Iterator[Hit]:
    """Handlers that read a counted column, compare it, and write it back computed in Python."""
    if not module.keeps_rows or _LOCKS.search(module.text):
        return
    for function in module.all(ast.FunctionDef, ast.AsyncFunctionDef):
        if not is_route(module, function) and not is_django_view(module, function):
            continue
        tested = _compared(module, function)
        if not tested:
            continue
        for node, column in _written_back(module, function):
            first = min((start_of(test) for test in tested.get(column, ())), default=None)
            if first is not None and first < start_of(node):
                yield Hit(
                    node=node, message=f"`{column}` is tested, and written back later from what was read."
                )
                break


def _compared(module: Module, function: FunctionNode) -> dict[str, list[ast.AST]]:
    """The counted columns that conditions of the function compare with something that is no constant."""
    found: dict[str, list[ast.AST]] = {}
    for test in module.within(function):
        if not isinstance(test, ast.Compare) or not isinstance(
            test.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE
        ):
            continue
        for side in (test.left, *test.comparators):
            for column in _columns(module, side):
                found.setdefault(column, []).append(test)
    return found


def _columns(module: Module, expr: ast.AST) -> set[str]:
    """The counted columns that are read in an expression, also under a name of their own."""
    found: set[str] = set()
    for node in module.within(expr):
        made = [node]
        if isinstance(node, ast.Name):
            made = [b.value for b in module.bindings_of(node) if b.kind == "assign" and b.value is not None]
        for one in made:
            found |= {column for _, column in stored_reads(module).columns(one) if _COUNTED.search(column)}
    return found


def _written_back(module: Module, function: FunctionNode) -> Iterator[tuple[ast.AST, str]]:
    """``account.balance -= amount``, and updates whose value is computed from the column that was read."""
    for node in module.within(function):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub | ast.Add):
            if not _is_expression(module, node.value):
                yield from ((node, column) for column in _columns(module, node.target))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield from ((node, c) for c in _columns(module, node.value) if c == target.attr.lower())
        elif (
            isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "execute" and len(node.args) > 1
        ):
            given = node.args[1]
            values = given.elts if isinstance(given, ast.Tuple | ast.List) else []
            for one in written(module.text_of(node.args[0]) or ""):
                value = values[one.slot] if isinstance(one.slot, int) and one.slot < len(values) else None
                if value is not None and one.column in _columns(module, value):
                    yield node, one.column


def _is_expression(module: Module, value: ast.expr) -> bool:
    """``F("balance")``: the database computes it."""
    return any(isinstance(n, ast.Call) and getattr(n.func, "id", "") == "F" for n in module.within(value))
