"""Values of a Python file, constants folded: assignments, arguments by name, dictionaries, defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from gate.prescreen.identities.written import UNNAMED, Written
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scanner import parse

_MOST: Final = 100_000
_LOOKS_UP: Final = frozenset({"get", "getenv", "pop", "setdefault", "env", "config", "str"})


def written(path: str, data: bytes) -> Iterator[Written]:
    """Every text, each whole text that is put together once."""
    try:
        module = parse(path, data)
    except (SyntaxError, ValueError):
        return
    waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(module.tree, ())]
    count = 0
    while waiting and count < _MOST:
        node, names = waiting.pop()
        count += 1
        value = _text(module, node)
        if value is not None:
            yield Written(names, value, getattr(node, "lineno", 1))
            continue
        if isinstance(node, ast.Constant | ast.Name) or _is_prose(node):
            continue
        waiting += [*_below(module, node, names)][::-1]


def _is_prose(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _text(module: Module, node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Call) and (
        not isinstance(node, ast.Call) or (isinstance(node.func, ast.Attribute) and not node.keywords)
    ):
        value = module.const(node)
        return value if isinstance(value, str) else None
    return None


def _below(
    module: Module, node: ast.AST, names: tuple[str, ...]
) -> Iterable[tuple[ast.AST, tuple[str, ...]]]:
    """The parts of a node, each with the names that lead to it."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [(child, (*names, node.name)) for child in ast.iter_child_nodes(node)]
        case ast.arguments():
            return [(value, (*names, name)) for name, value in _defaults(node)]
        case ast.Dict():
            keys = [_text(module, key) if key is not None else None for key in node.keys]
            pairs = zip(keys, node.values, strict=True)
            return [(value, (*names, key) if key else names) for key, value in pairs]
        case ast.Call():
            return _given(module, node, names)
        case ast.Subscript():
            return [(node.value, names)]
    named = _named(node)
    if named is not None:
        return [(value, (*names, named[0]) if named[0] else names) for value in named[1]]
    return [(child, names) for child in ast.iter_child_nodes(node)]


def _named(node: ast.AST) -> tuple[str, list[ast.expr]] | None:
    """What gives a name one value, or compares it with some."""
    match node:
        case ast.Assign():
            return _target(node.targets[0]), [node.value]
        case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            return _target(node.target), [value]
        case ast.keyword(arg=str(word)):
            return word, [node.value]
        case ast.Compare(left=ast.Name() | ast.Attribute() | ast.Subscript() as left):
            return _target(left), node.comparators
    return None


def _defaults(node: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    given = [*node.posonlyargs, *node.args]
    for arg, default in zip(given[len(given) - len(node.defaults) :], node.defaults, strict=True):
        yield arg.arg, default
    for arg, value in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        if value is not None:
            yield arg.arg, value


def _given(
    module: Module, call: ast.Call, names: tuple[str, ...]
) -> Iterator[tuple[ast.AST, tuple[str, ...]]]:
    """What a call is given: what stands at a place has no name; of a look-up with a default, the key's."""
    if isinstance(call.func, ast.Attribute):
        yield call.func.value, names
    key = _text(module, call.args[0]) if len(call.args) == 2 else None
    if key is not None and _target(call.func) in _LOOKS_UP:
        yield call.args[1], (*names, key)
    else:
        for part in call.args:
            yield part, (*names, UNNAMED)
    for keyword in call.keywords:
        yield keyword, names


def _target(node: ast.AST) -> str:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Subscript(slice=ast.Constant(value=str(word))):
            return word
    return ""
