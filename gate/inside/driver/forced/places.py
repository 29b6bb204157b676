"""Where in a syntax tree a line stands, and what the rest of the file says about names and arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PLAIN = (str, int, float, bytes)


def holds(node: ast.AST, line: int) -> bool:
    """True where the node's text, decorators and all, covers the line."""
    first = getattr(node, "lineno", None)
    if first is None:
        return any(holds(child, line) for child in ast.iter_child_nodes(node))
    first = min([first, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return bool(first <= line <= (getattr(node, "end_lineno", None) or first))


def holds_call(node: ast.AST, line: int, column: int | None) -> bool:
    """True where the node holds what begins at this line and column; any call of the line without column."""
    if column is None:
        return any(isinstance(n, ast.Call) and n.lineno == line for n in ast.walk(node))
    return any(
        getattr(n, "lineno", None) == line and getattr(n, "col_offset", None) == column
        for n in ast.walk(node)
        if isinstance(n, ast.expr)
    )


def functions_around(tree: ast.Module, line: int) -> list[Any]:
    """Classes and functions that hold the line, outermost first; lambdas are none."""
    found: list[Any] = []
    body: list[Any] = list(tree.body)
    while body:
        inner = next((n for n in body if holds(n, line)), None)
        if inner is None:
            return found
        if isinstance(inner, (*FUNCTIONS, ast.ClassDef)):
            if line < inner.lineno or all(not holds(s, line) for s in inner.body):
                return found  # a decorator, a default, a base: that is evaluated outside
            found.append(inner)
            body = list(inner.body)
        else:
            body = list(blocks(inner))
    return found


def blocks(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements directly inside a compound statement, of all its blocks."""
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(node, name, ())
    for handler in getattr(node, "handlers", ()):
        yield from handler.body
    for case in getattr(node, "cases", ()):
        yield from case.body


def stored_names(body: list[Any]) -> set[str]:
    """Names that a block binds in its own scope, imports and functions among them."""
    found: set[str] = set()
    outer: set[str] = set()

    def walk(node: ast.AST, inside: bool) -> None:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
            return
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not inside:
            found.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        elif isinstance(node, ast.NamedExpr):
            found.add(node.target.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).partition(".")[0] for a in node.names if a.name != "*")
        elif type(node).__name__ in ("MatchAs", "MatchStar", "MatchMapping"):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            found.update([name] if name else [])
        inside = inside or isinstance(node, COMPREHENSIONS)
        for child in ast.iter_child_nodes(node):
            walk(child, inside)

    for statement in body:
        walk(statement, False)
    return found - outer


def attribute_constants(tree: ast.Module, owner: str) -> dict[str, Any]:
    """Attributes to which the class assigns plain values anywhere, in its methods or its body."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.ClassDef) and node.name == owner):
            continue
        for name, value in _assigned(node):
            found.setdefault(name, value)
    return found


def global_constants(tree: ast.Module) -> dict[str, Any]:
    """Names of the module to which functions assign plain values: what it holds once they were called."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            names = {n for s in ast.walk(node) if isinstance(s, ast.Global) for n in s.names}
            found.update((n, v) for n, v in _assigned(node) if n in names and n not in found)
    return found


def _assigned(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """Names and attributes with the plain values that they are assigned, in pairs also from tuples."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        pairs = [(target, node.value) for target in node.targets]
        for target, value in list(pairs):
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs += zip(target.elts, value.elts)  # noqa: B905  (3.9 has no strict=)
        for target, value in pairs:
            name = getattr(target, "attr", None) or getattr(target, "id", None)
            if name and isinstance(value, ast.Constant) and type(value.value) in _PLAIN:
                yield name, value.value


def call_constants(tree: ast.Module, function: Any, *, bound: bool) -> dict[str, Any]:
    """Plain values that calls in the same file give a function's parameters: the first for each."""
    names = [a.arg for a in (*getattr(function.args, "posonlyargs", ()), *function.args.args)][int(bound) :]
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if (getattr(node.func, "attr", None) or getattr(node.func, "id", None)) != function.name:
            continue
        given = [*zip(names, node.args), *((k.arg, k.value) for k in node.keywords)]  # noqa: B905
        for name, value in given:
            if name and isinstance(value, ast.Constant) and type(value.value) in _PLAIN:
                found.setdefault(name, value.value)
    return found
