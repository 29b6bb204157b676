"""Python's syntax tree as steps. Runs in the limited child."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from gate.secret_uses.steps import RECEIVER, ROUTE, SPREAD, TARGET, Step, several

_ROUTES: Final = frozenset({
    "get", "post", "put", "patch", "delete", "route", "api_route", "exception_handler", "errorhandler",
    "app_errorhandler",
})  # fmt: skip
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def module_steps(tree: ast.Module) -> Step:
    """All of a module."""
    return _block(tree.body, 1)


def _block(body: Sequence[ast.AST], line: int) -> Step:
    return several("any", line, [_step(node) for node in body])


def _step(node: ast.AST | None) -> Step:
    line: int = getattr(node, "lineno", 0)
    match node:
        case None:
            return Step("const", 0)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return _path(node, line)
        case ast.Constant():
            return Step("const", line, (node.value,) if isinstance(node.value, str) else ())
        case ast.Call():
            return _call(node, line)
        case ast.JoinedStr():
            return _text(node.values, line)
        case ast.FormattedValue():
            return _step(node.value)
        case ast.BinOp():
            return _binary(node, line)
        case ast.BoolOp():
            return _block(node.values, line)
        case ast.Compare():
            return several("test", line, [_step(node.left), *map(_step, node.comparators)])
        case ast.UnaryOp():
            return several("test" if isinstance(node.op, ast.Not) else "any", line, [_step(node.operand)])
        case ast.IfExp():
            test = several("test", line, [_step(node.test)])
            return several("any", line, [test, _step(node.body), _step(node.orelse)])
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return Step("map", line, (), [(SPREAD if k is None else _literal(k), _step(v)) for k, v in pairs])
        case ast.Tuple() | ast.List() | ast.Set():
            return several("list", line, [_step(one) for one in node.elts])
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return _comprehension(node, line)
        case ast.Lambda():
            body = several("return", line, [_step(node.body)])
            return Step("function", line, ("", *_parameters(node.args)), [("", body)])
        case ast.NamedExpr():
            return _assign(node.target, node.value, line)
        case _:
            return _statement(node, line)


def _statement(node: ast.AST, line: int) -> Step:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _function(node, line)
        case ast.ClassDef():
            return Step("class", line, (node.name,), [("", _step(one)) for one in node.body])
        case ast.Assign():
            return several("any", line, [_assign(target, node.value, line) for target in node.targets])
        case ast.AnnAssign():
            return _assign(node.target, node.value, line)
        case ast.AugAssign():
            operator = "^=" if isinstance(node.op, ast.BitXor) else "+="
            return _assign(node.target, node.value, line, operator)
        case ast.For() | ast.AsyncFor():
            loop = Step("assign", line, ("=",), _loop(node.target, node.iter))
            return several("any", line, [loop, _block(node.body, line), _block(node.orelse, line)])
        case ast.comprehension():
            return Step("assign", node.target.lineno, ("=",), _loop(node.target, node.iter))
        case ast.If() | ast.While():
            test = several("test", line, [_step(node.test)])
            return several("any", line, [test, _block(node.body, line), _block(node.orelse, line)])
        case ast.Return():
            return several("return", line, [_step(node.value)])
        case ast.Raise():
            return several("raise", line, [_step(node.exc)])
        case ast.Import():
            names = [(a.asname or a.name.partition(".")[0], a.name, "") for a in node.names]
            return several("any", line, [Step("import", line, name) for name in names])
        case ast.ImportFrom():
            module = "." * node.level + (node.module or "")
            named = [(a.asname or a.name, module, a.name) for a in node.names]
            return several("any", line, [Step("import", line, name) for name in named])
        case ast.With() | ast.AsyncWith():
            opened = [
                _assign(item.optional_vars, item.context_expr, line)
                if item.optional_vars
                else _step(item.context_expr)
                for item in node.items
            ]
            return several("any", line, [*opened, _block(node.body, line)])
        case ast.Assert():
            return several("test", line, [_step(node.test)])
        case _:
            return _block([*ast.iter_child_nodes(node)], line)


def _path(node: ast.Name | ast.Attribute | ast.Subscript, line: int) -> Step:
    names: list[str] = []
    at: ast.expr = node
    while True:
        if isinstance(at, ast.Attribute):
            names.append(at.attr)
            at = at.value
        elif isinstance(at, ast.Subscript):
            key = _literal(at.slice)
            if not key:
                kind = "slice" if isinstance(at.slice, ast.Slice) else "index"
                base = several(kind, line, [_step(at.value), _step(at.slice)])  # type: ignore[arg-type]
                return Step("name", line, (*names[::-1],), [(RECEIVER, base)]) if names else base
            names.append(key)
            at = at.value
        elif isinstance(at, ast.Name):
            return Step("name", line, (at.id, *names[::-1]))
        else:
            return Step("name", line, (*names[::-1],), [(RECEIVER, _step(at))])


def _literal(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _call(node: ast.Call, line: int) -> Step:
    called = _step(node.func)
    parts = called.parts if called.kind == "name" else [(RECEIVER, called)]
    parts = [*parts, *((SPREAD if isinstance(a, ast.Starred) else "", _step(a)) for a in node.args)]
    parts += [(word.arg or SPREAD, _step(word.value)) for word in node.keywords]
    return Step("call", line, called.name if called.kind == "name" else (), parts)


def _text(values: Sequence[ast.expr], line: int) -> Step:
    said = tuple(text for value in values if (text := _literal(value)))
    return several("text", line, [_step(value) for value in values if not _literal(value)], said)


def _binary(node: ast.BinOp, line: int) -> Step:
    both = [_step(node.left), _step(node.right)]
    if isinstance(node.op, ast.BitXor):
        return several("xor", line, both)
    if isinstance(node.op, ast.Mod) and (said := _literal(node.left)):
        return several("text", line, [both[1]], (said,))
    if isinstance(node.op, ast.Add):
        said = _literal(node.left) + _literal(node.right)
        return several("plus", line, both, (said,) if said else ())
    if isinstance(node.op, ast.BitOr | ast.Div | ast.FloorDiv):  # sets, paths
        return several("any", line, both)
    return several("sum", line, both)


def _comprehension(node: _COMPREHENSION, line: int) -> Step:
    bound = [_step(one) for one in node.generators]
    tests = [several("test", line, [_step(test) for test in one.ifs]) for one in node.generators]
    if isinstance(node, ast.DictComp):
        made = Step("map", line, (), [("", _step(node.key)), ("", _step(node.value))])
    else:
        made = _step(node.elt)
    return several("each", line, [*bound, *tests, made])


def _loop(target: ast.expr, over: ast.expr) -> list[tuple[str, Step]]:
    return [(TARGET, _step(target)), ("", several("item", over.lineno, [_step(over)]))]


def _assign(target: ast.expr, value: ast.expr | None, line: int, operator: str = "=") -> Step:
    if value is None:
        return Step("const", line)
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        if len(target.elts) == len(value.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            return several("any", line, [_assign(one, given, line) for one, given in pairs])
    return Step("assign", line, (operator,), [(TARGET, _step(target)), ("", _step(value))])


def _function(node: _FUNCTION, line: int) -> Step:
    marks = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    routed = any(isinstance(mark, ast.Attribute) and mark.attr in _ROUTES for mark in marks)
    parts = [(ROUTE, Step("const", line))] if routed else []
    parts += [("", _step(one)) for one in node.body]
    return Step("function", line, (node.name, *_parameters(node.args)), parts)


def _parameters(given: ast.arguments) -> list[str]:
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    return [*names, *(one.arg for one in given.kwonlyargs)]
