"""Python's syntax tree as steps. Runs in the limited child."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from gate.secret_uses.steps import ERROR, RECEIVER, ROUTE, SPREAD, TARGET, Step, several

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
    if node is None:
        return Step("const", 0)
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return _path(node, line)
    made = _EXPRESSIONS.get(type(node)) or _STATEMENTS.get(type(node))
    if made is not None:
        return made(node, line)
    return _block([*ast.iter_child_nodes(node)], line)


def _constant(node: ast.Constant, line: int) -> Step:
    return Step("const", line, (node.value,) if isinstance(node.value, str) else ())


def _compared(node: ast.Compare, line: int) -> Step:
    return several("test", line, [_step(node.left), *map(_step, node.comparators)])


def _unary(node: ast.UnaryOp, line: int) -> Step:
    return several("test" if isinstance(node.op, ast.Not) else "any", line, [_step(node.operand)])


def _conditional(node: ast.IfExp, line: int) -> Step:
    test = several("test", line, [_step(node.test)])
    return several("any", line, [test, _step(node.body), _step(node.orelse)])


def _dict(node: ast.Dict, line: int) -> Step:
    pairs = zip(node.keys, node.values, strict=True)
    return Step("map", line, (), [(SPREAD if k is None else _literal(k), _step(v)) for k, v in pairs])


def _lambda(node: ast.Lambda, line: int) -> Step:
    body = several("return", line, [_step(node.body)])
    return Step("function", line, ("", *_parameters(node.args)), [("", body)])


def _assignment(node: ast.Assign, line: int) -> Step:
    return several("any", line, [_assign(target, node.value, line) for target in node.targets])


def _augmented(node: ast.AugAssign, line: int) -> Step:
    return _assign(node.target, node.value, line, "^=" if isinstance(node.op, ast.BitXor) else "+=")


def _for(node: ast.For | ast.AsyncFor, line: int) -> Step:
    return several("any", line, [_loop(node), _block(node.body, line), _block(node.orelse, line)])


def _if(node: ast.If | ast.While, line: int) -> Step:
    test = several("test", line, [_step(node.test)])
    return several("any", line, [test, _block(node.body, line), _block(node.orelse, line)])


def _import(node: ast.Import, line: int) -> Step:
    names = [(a.asname or a.name.partition(".")[0], a.name, "") for a in node.names]
    return several("any", line, [Step("import", line, name) for name in names])


def _import_from(node: ast.ImportFrom, line: int) -> Step:
    module = "." * node.level + (node.module or "")
    return several(
        "any", line, [Step("import", line, (a.asname or a.name, module, a.name)) for a in node.names]
    )


def _with(node: ast.With | ast.AsyncWith, line: int) -> Step:
    opened = [
        _assign(one.optional_vars, one.context_expr, line) if one.optional_vars else _step(one.context_expr)
        for one in node.items
    ]
    return several("any", line, [*opened, _block(node.body, line)])


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
                base = several(kind, line, [_step(at.value), _step(at.slice)], _bounds(at.slice))  # type: ignore[arg-type]
                return Step("name", line, (*names[::-1],), [(RECEIVER, base)]) if names else base
            names.append(key)
            at = at.value
        elif isinstance(at, ast.Name):
            return Step("name", line, (at.id, *names[::-1]))
        else:
            return Step("name", line, (*names[::-1],), [(RECEIVER, _step(at))])


def _bounds(at: ast.expr) -> tuple[str, ...]:
    """``[::-1]`` is all of it, and ``[8:]`` the rest that somebody else may have the beginning of."""
    if not isinstance(at, ast.Slice) or at.upper is not None:
        return ()
    if at.step is not None:
        return ("turned",) if at.lower is None else ()
    plain = at.lower is None or (isinstance(at.lower, ast.Constant) and at.lower.value != 0)
    return ("rest",) if plain else ()


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
    shifts = isinstance(node.op, ast.LShift | ast.RShift)
    return several("sum", line, both, (">>",) if shifts else ())


def _comprehension(node: _COMPREHENSION, line: int) -> Step:
    bound = [_loop(one) for one in node.generators]
    tests = [several("test", line, [_step(test) for test in one.ifs]) for one in node.generators]
    if isinstance(node, ast.DictComp):
        made = Step("map", line, (), [("", _step(node.key)), ("", _step(node.value))])
    else:
        made = _step(node.elt)
    return several("each", line, [*bound, *tests, made])


def _loop(node: ast.For | ast.AsyncFor | ast.comprehension) -> Step:
    over = several("item", node.iter.lineno, [_step(node.iter)])
    return Step("assign", node.target.lineno, ("=",), [(TARGET, _step(node.target)), ("", over)])


def _assign(target: ast.expr, value: ast.expr | None, line: int, operator: str = "=") -> Step:
    if value is None:
        return Step("const", line)
    lists = ast.Tuple | ast.List
    if isinstance(target, lists) and isinstance(value, lists) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        return several("any", line, [_assign(one, given, line) for one, given in pairs])
    return Step("assign", line, (operator,), [(TARGET, _step(target)), ("", _step(value))])


def _function(node: _FUNCTION, line: int) -> Step:
    marks = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    routed = any(isinstance(mark, ast.Attribute) and mark.attr in _ROUTES for mark in marks)
    parts = [(ROUTE, Step("const", line))] if routed else []
    parts += [("", _step(one)) for one in node.body]
    return Step("function", line, (node.name, *_parameters(node.args)), parts)


def _class(node: ast.ClassDef, line: int) -> Step:
    errors = any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
    parts = [(ERROR, Step("const", line))] if errors else []
    return Step("class", line, (node.name,), [*parts, *(("", _step(one)) for one in node.body)])


def _parameters(given: ast.arguments) -> list[str]:
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    names += [f"*{given.vararg.arg}"] if given.vararg else []
    names += [one.arg for one in given.kwonlyargs]
    return [*names, *([f"**{given.kwarg.arg}"] if given.kwarg else [])]


_EXPRESSIONS: Final[dict[type[ast.AST], Callable[[Any, int], Step]]] = {
    ast.Constant: _constant,
    ast.Call: _call,
    ast.JoinedStr: lambda node, line: _text(node.values, line),
    ast.BinOp: _binary,
    ast.Compare: _compared,
    ast.UnaryOp: _unary,
    ast.IfExp: _conditional,
    ast.Dict: _dict,
    ast.Tuple: lambda node, line: several("list", line, [_step(one) for one in node.elts]),
    ast.List: lambda node, line: several("list", line, [_step(one) for one in node.elts]),
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Lambda: _lambda,
    ast.Yield: lambda node, line: several("return", line, [_step(node.value)]),
    ast.YieldFrom: lambda node, line: several("return", line, [_step(node.value)]),
    ast.NamedExpr: lambda node, line: _assign(node.target, node.value, line),
}
_STATEMENTS: Final[dict[type[ast.AST], Callable[[Any, int], Step]]] = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Assign: _assignment,
    ast.AnnAssign: lambda node, line: _assign(node.target, node.value, line),
    ast.AugAssign: _augmented,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.If: _if,
    ast.While: _if,
    ast.Return: lambda node, line: several("return", line, [_step(node.value)]),
    ast.Raise: lambda node, line: several("raise", line, [_step(node.exc)]),
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Assert: lambda node, line: several("test", line, [_step(node.test)]),
}
