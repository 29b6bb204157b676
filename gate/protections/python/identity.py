"""Where who asks is taken from, in Python: a header, a cookie or a query that anybody writes.

Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.protections.conditions import last_name
from gate.protections.python.guards import source
from gate.protections.traits import SESSIONS, Fact, lapse
from gate.protections.vocabulary import is_identity, is_proof

_WRITTEN: Final = frozenset({
    "headers", "cookies", "COOKIES", "META", "args", "GET", "query_params", "POST", "form", "values", "json",
})  # fmt: skip
_REMOTE: Final = ("RemoteUserBackend", "RemoteUserMiddleware", "ProxyAuth", "HeaderAuth")
_LISTS: Final = ("AUTHENTICATION_BACKENDS", "MIDDLEWARE", "MIDDLEWARE_CLASSES")


def identity_facts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Fact]:
    """``return request.headers.get("X-Actor")`` in ``actor()``, ``user = request.args["user"]``."""
    named = is_identity(node.name)
    for one in ast.walk(node):
        if isinstance(one, ast.Return):
            value = one.value if named else None
        elif isinstance(one, ast.Assign):
            value = one.value if any(is_identity(last_name(target)) for target in one.targets) else None
        else:
            continue
        for asked in _written(value) if value is not None else ():
            key = f"who asks is {source(asked)}"
            yield lapse("authentication", key, source(one), one.lineno, needs=SESSIONS, modest=False)


def _written(value: ast.expr) -> Iterator[ast.expr]:
    """The values themselves and their fallbacks; what a call makes of one may well be checked."""
    todo = [value]
    while todo:
        one = todo.pop()
        match one:
            case ast.BoolOp():
                todo += one.values
            case ast.IfExp():
                todo += [one.body, one.orelse]
            case ast.Call(func=ast.Name(id="str" | "int")):
                todo += one.args
            case ast.Call(func=ast.Attribute(attr="strip" | "lower", value=inner)):
                todo.append(inner)
            case ast.Subscript(value=of, slice=ast.Constant(value=name)):
                if _is_claim(of, name):
                    yield one
            case ast.Call(func=ast.Attribute(attr="get", value=of), args=[ast.Constant(value=name), *rest]):
                todo += rest
                if _is_claim(of, name):
                    yield one


def _is_claim(of: ast.expr, name: object) -> bool:
    return last_name(of) in _WRITTEN and not is_proof(str(name))


def remote_facts(statement: ast.stmt) -> Iterator[Fact]:
    """Django's settings that take a header's word for who is logged in."""
    if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) or statement.value is None:
        return
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    name = last_name(target)
    if name not in _LISTS:
        return
    for item in ast.walk(statement.value):
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            word = item.value.rpartition(".")[2]
            if any(part in word for part in _REMOTE):
                key = f"a header says who asks: {word}"
                yield lapse("authentication", key, f"{name}: {item.value}", item.lineno, needs=(name,))
