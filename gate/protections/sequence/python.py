"""The steps of each function of a Python file. Runs in the limited child."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.facts import Asked
from gate.protections.heard.names import is_heard_for
from gate.protections.python.guards import source
from gate.protections.sequence.steps import Step, asked_in, key_of
from gate.protections.vocabulary import family_of, is_check

_FUNCTION: Final = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVING: Final = ast.Raise | ast.Return | ast.Continue | ast.Break
_ENDING: Final = frozenset({"abort", "exit", "fail", "deny", "refuse", "reject"})
_MOST: Final = 400


def python_asked(tree: ast.Module) -> tuple[Asked, ...]:
    """Every check of every function with what its values went through."""
    found: list[Asked] = []
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTION):
            names = [a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)]
            found += asked_in(node.name, names, _steps(node))
    return tuple(found)[:_MOST]


def _steps(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Step]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield _step(node, value, sets=tuple(n for t in targets for n in _targets(t)))
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                yield _step(node, value, sets=tuple(_targets(target)))
            case ast.AugAssign(target=target, value=value):
                yield _step(node, value, sets=tuple(_targets(target)), more=_dotted(target))
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                yield _step(value, value, sets=tuple(_targets(target)))
            case ast.If(test=test) if _leaves([*node.body, *node.orelse]):
                yield from _check(test)
            case ast.Call():
                yield from _call(node)


def _call(node: ast.Call) -> Iterator[Step]:
    name = last_name(node)
    given = [*node.args, *(k.value for k in node.keywords)]
    inner = [c for one in given for c in _calls(one)]
    reads = tuple(r for one in given for r in _reads(one))
    checks = is_check(name) or is_heard_for("", name) or family_of(name) == "place"
    yield Step(at=_at(node), reads=tuple(_reads(node)), calls=(snake(name),))
    yield Step(
        at=_at(node), reads=reads, calls=tuple(inner), key=key_of([name], ()) if checks else "",
        passed=snake(name),
        text=source(node), line=node.lineno,
    )  # fmt: skip


def _check(test: ast.expr) -> Iterator[Step]:
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    for part in parts:
        outer, inner = _outermost(part), [*_calls(part)]
        constants = [*_constants(part)]
        key = key_of(outer, constants)
        if key and not set(outer) - {"isinstance", "hasattr", "bool", "any", "all"} and not constants:
            key = ""
        left = [c for c in inner if c not in {snake(o) for o in outer}]
        yield Step(
            at=_at(part),
            reads=tuple(_reads(part)),
            calls=tuple(left),
            key=key,
            text=source(part),
            line=part.lineno,
        )


def _step(node: ast.AST, value: ast.expr, *, sets: tuple[str, ...], more: str = "") -> Step:
    reads = (*_reads(value), *([more] if more else ()))
    return Step(at=_at(node), reads=reads, calls=tuple(_calls(value)), sets=sets)


def _at(node: ast.AST) -> int:
    line, column = getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0
    return line * 1_000 + min(column, 999)


def _leaves(body: list[ast.stmt]) -> bool:
    inside = [n for one in body for n in ast.walk(one)]
    return any(
        isinstance(n, _LEAVING) or (isinstance(n, ast.Call) and last_name(n) in _ENDING) for n in inside
    )


def _outermost(node: ast.expr) -> list[str]:
    """The calls of a condition that no other call is given or made of."""
    found: list[str] = []
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Call):
            found.append(last_name(one))
        else:
            todo += ast.iter_child_nodes(one)
    return found


def _constants(node: ast.expr) -> Iterator[str]:
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Constant) and one.value not in (None, "", 0, 1, True, False, b"", -1):
            yield repr(one.value)
        elif isinstance(one, ast.Name | ast.Attribute):
            if (name := last_name(one)).isupper() and len(name) > 1:
                yield name
            todo += [one.value] if isinstance(one, ast.Attribute) and not _dotted(one) else []
        else:
            todo += ast.iter_child_nodes(one)


def _calls(node: ast.expr) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            yield snake(last_name(one))
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult | ast.Div):
            for side in (one.left, one.right):
                if name := last_name(side):
                    yield f"times {name}"


def _reads(node: ast.expr) -> Iterator[str]:
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        if dotted := _dotted(one):
            yield dotted
        elif isinstance(one, ast.Call):
            todo += [*one.args, *(k.value for k in one.keywords)]
            todo += [one.func.value] if isinstance(one.func, ast.Attribute) else []
        else:
            todo += ast.iter_child_nodes(one)


def _targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Tuple | ast.List):
        for one in node.elts:
            yield from _targets(one)
    elif dotted := _dotted(node):
        yield dotted


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
