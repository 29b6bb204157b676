"""What somebody pays, in Python: computed or looked up by the program, or named by who pays.

Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.facts import Strength
from gate.protections.python.guards import source
from gate.protections.strengths import kept
from gate.regex import regex

_PRICED: Final = "a price that the program computes"
_MONEY: Final = regex(r"(?:^|_)(?:price|prices|amount|cents|total|cost|fee|discount|subtotal)(?:_|$)")
_SENT: Final = frozenset({"body", "payload", "data", "request", "req", "form", "order_in", "item", "cart"})


def price_strengths(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Strength]:
    """``total(body.sku, body.quantity)``, and ``total(body.sku, body.quantity, body.unit_cents)``."""
    asked = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)} & _SENT
    priced = [n for n in ast.walk(node) if isinstance(n, ast.Call) and _is_money(last_name(n))]
    if not asked or not priced:
        return
    named = next((call for call in priced if _is_named(call, asked)), None)
    told = named or priced[0]
    yield kept(_PRICED, named is None, source(told), told.lineno)


def _is_money(name: str) -> bool:
    return _MONEY.search(snake(name)) is not None


def _is_named(call: ast.Call, asked: set[str]) -> bool:
    """Is it given a sum that was sent?"""
    for one in ast.walk(call):
        match one:
            case ast.Attribute(value=ast.Name(id=of), attr=name) if of in asked and _is_money(name):
                if one is not call.func:
                    return True
            case ast.Subscript(value=ast.Name(id=of), slice=ast.Constant(value=str() as name)):
                if of in asked and _is_money(name):
                    return True
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str() as name), *_]):
                if _is_money(name) and any(isinstance(n, ast.Name) and n.id in asked for n in ast.walk(one)):
                    return True
    return False
