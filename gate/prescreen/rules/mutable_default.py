"""A default value that the function itself fills: what one caller brought is there for the next.

A default is made once, when the function is defined. A list or a dictionary that the function adds to is the
same one in every later call without that argument: the filter, the owner or the rows of whoever came first
decide the answers for everybody after.

Let the default be `None` and make the container in the body (`filters = dict(filters or {})`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.scope import FunctionNode, start_of
from gate.regex import regex

_MAKERS: Final = frozenset({
    "dict", "list", "set", "bytearray", "collections.defaultdict", "collections.deque", "collections.Counter",
    "collections.OrderedDict", "collections.ChainMap",
})  # fmt: skip
_ADDS: Final = frozenset({
    "append", "add", "update", "setdefault", "insert", "extend", "appendleft", "extendleft", "__setitem__",
    "difference_update", "intersection_update",
})  # fmt: skip
_MEANT: Final = regex(r"(?i)^_|cache|memo|seen|visited|registry|counter")
"""Names of what is meant to live on from call to call."""


@rule(
    "py.mutable-default",
    "A default value keeps what a caller brought for the next one",
    severity="medium",
    confidence="medium",
    topic="race",
    cwe=(488, 665),
    why="The default is one object for all calls. What the function writes into it for one caller is read "
    "for all others: another tenant's filter, another user's rows.",
    fix="Use `None` as the default, and make or copy the container in the body.",
)
def check(module: Module) -> Iterator[Hit]:
    """Parameters whose default is a new list, dictionary or set, and into which the function puts what
    another parameter, or the object itself, brought. Names that say that it lives on are left out.
    """
    for function in module.all(ast.FunctionDef, ast.AsyncFunctionDef):
        brought = {one.arg for one in _every(function)}
        for name in _made_once(module, function):
            others = brought - {name}
            place = _filled(module, function, name, others)
            if place is not None:
                message = f"`{name}` is one object for all calls; the function puts a caller's value into it."
                yield Hit(node=place, message=message, evidence={"function": function.name, "default": name})


def _every(function: FunctionNode) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]


def _made_once(module: Module, function: FunctionNode) -> Iterator[str]:
    given = function.args
    placed = [*given.posonlyargs, *given.args]
    pairs = [*zip(placed[len(placed) - len(given.defaults) :], given.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None]
    for argument, default in pairs:
        made = isinstance(default, ast.Dict | ast.List | ast.Set)
        made = made or (isinstance(default, ast.Call) and bool(_MAKERS & {*module.names_of(default.func)}))
        if made and not _MEANT.search(argument.arg):
            yield argument.arg


def _filled(module: Module, function: FunctionNode, name: str, others: set[str]) -> ast.AST | None:
    """Where the function first puts something of a caller into it; None where the name is new by then."""
    first: ast.AST | None = None
    for node in module.within(function):
        if _binds(node, name):
            first_bound = start_of(node)
            if first is None or first_bound < start_of(first):
                return None
        values = _put(node, name)
        if first is None and any(_is_of(one, others) for one in values):
            first = node
    return first


def _binds(node: ast.AST, name: str) -> bool:
    """``filters = dict(filters)``: from here on it is the call's own."""
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _put(node: ast.AST, name: str) -> list[ast.expr]:
    """What a statement puts into the container of this name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _ADDS and _is_name(node.func.value, name):
            return [*node.args, *(one.value for one in node.keywords)]
    elif isinstance(node, ast.Assign):
        places = [one for one in node.targets if isinstance(one, ast.Subscript) and _is_name(one.value, name)]
        return [node.value, *(one.slice for one in places)] if places else []
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        return [node.value] if _is_name(node.target.value, name) else []
    return []


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_of(value: ast.expr, others: set[str]) -> bool:
    return any(isinstance(one, ast.Name) and one.id in others for one in ast.walk(value))
