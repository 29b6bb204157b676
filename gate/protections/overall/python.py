"""Calls and comparisons of a Python file, for what is compared over the whole change. In the child."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.overall.rules import KNOWN
from gate.protections.overall.said import ADDING, Compared, Said, Script, Spoken, plain
from gate.protections.python.guards import source

_FUNCTION: Final = ast.FunctionDef | ast.AsyncFunctionDef
_SIGNS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in", ast.LtE: "<=", ast.GtE: ">=",
    ast.Lt: "<", ast.Gt: ">", ast.Is: "==", ast.IsNot: "!=",
}  # fmt: skip
_MOST: Final = 4_000


def python_script(tree: ast.Module, words: Mapping[str, int]) -> Script:
    """The calls of each outermost function and method, and those of the module."""
    functions: list[Spoken] = []
    rest: list[ast.AST] = []
    todo: list[ast.stmt] = [*tree.body]
    while todo:
        node = todo.pop(0)
        if isinstance(node, _FUNCTION):
            functions.append(_spoken(node.name, [node]))
        elif isinstance(node, ast.ClassDef | ast.If | ast.Try):
            todo += node.body
        else:
            rest.append(node)
    return Script(functions=(*functions, _spoken("", rest)), words=words, text="")


def _spoken(name: str, nodes: list[ast.AST]) -> Spoken:
    calls: list[Said] = []
    names: set[str] = set()
    sets: list[tuple[Compared, str, int]] = []
    for node in (inner for top in nodes for inner in ast.walk(top)):
        if isinstance(node, ast.Call):
            called = plain(last_name(node))
            names.add(called)
            if called in KNOWN or called in ADDING:
                calls.append(_said(node, called))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.LtE | ast.GtE | ast.Lt | ast.Gt):
            sets += [(one, source(node), node.lineno) for one in _compared(node)]
    return Spoken(name=name, calls=tuple(calls[:_MOST]), names=frozenset(names), sets=tuple(sets[:_MOST]))


def _said(call: ast.Call, name: str) -> Said:
    called = call.func
    owner = source(called.value) if isinstance(called, ast.Attribute) else ""
    return Said(
        name=name,
        line=call.lineno,
        text=source(call),
        owner=owner,
        given=tuple(source(one) for one in call.args),
        keywords={snake(k.arg): source(k.value) for k in call.keywords if k.arg},
        within=tuple(_within(call)) if name in ADDING else (),
    )


def _within(call: ast.Call) -> Iterator[Compared]:
    for node in ast.walk(call):
        if isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from _condition(test)
        elif isinstance(node, ast.Call) and last_name(node) in ("filter", "exclude"):
            sign = "==" if last_name(node) == "filter" else "!="
            for k in node.keywords:
                yield Compared(left=k.arg or "", operator=sign, right=source(k.value))


def _condition(test: ast.expr) -> Iterator[Compared]:
    match test:
        case ast.BoolOp():
            for one in test.values:
                yield from _condition(one)
        case ast.Compare():
            yield from _compared(test)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield Compared(left=source(inner), operator="is not")
        case ast.Attribute():
            yield Compared(left=source(test), operator="is")


def _compared(test: ast.Compare) -> Iterator[Compared]:
    sign = _SIGNS.get(type(test.ops[0]))
    if sign is not None:
        yield Compared(left=source(test.left), operator=sign, right=source(test.comparators[0]))
