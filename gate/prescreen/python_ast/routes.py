"""Which functions answer web requests: told by their decorators, and by what Django calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scope import FunctionNode
from gate.prescreen.python_ast.sources import TOOL_LIBRARIES, TOOL_MARKS
from gate.regex import regex

_ROUTES = frozenset({
    "route", "get", "post", "put", "delete", "patch", "api_route", "websocket", "view_config",
    "api_view", "expose", "endpoint",
})  # fmt: skip


_RENDERING = frozenset({"context", "template", "template_name"})
"""Parameters that no address gives: such a function helps views, and they call it."""


def response_functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function that answers web requests."""
    for function in module.all(ast.FunctionDef, ast.AsyncFunctionDef):
        if is_route(module, function):
            yield function


def is_route(module: Module, function: FunctionNode) -> bool:
    """True when a decorator makes the function answer web requests (``@app.route('/x')``)."""
    for decorator in getattr(function, "decorator_list", ()):
        if not isinstance(decorator, ast.Call):
            continue
        name = _last_name(decorator.func)
        first = module.text_of(module.arg(decorator, 0, "path", "rule"))
        if name in _ROUTES and first is not None and (first.startswith("/") or (not first and module.is_web)):
            return True  # empty: the address is the prefix of a router alone
        if name in ("api_view", "view_config"):
            return True
    return False


def takes_number(module: Module, function: FunctionNode, name: str) -> bool:
    """True where every address of the function has a number in that place: ``<int:name>``, ``{name:int}``."""
    rules = [
        module.text_of(decorator.args[0]) or ""
        for decorator in getattr(function, "decorator_list", ())
        if isinstance(decorator, ast.Call) and decorator.args and _last_name(decorator.func) in _ROUTES
    ]
    number = re.compile(
        rf"<(?:int|float|uuid)(?:\([^()]*\))?:{re.escape(name)}>|{{{re.escape(name)}:(?:int|float|uuid)}}"
    )
    return bool(rules) and all(number.search(rule) for rule in rules)


def is_django_view(module: Module, function: FunctionNode) -> bool:
    """``def page(request, slug)``, or a class's ``get(self, request, slug)``: the rest is the URL's."""
    names = [arg.arg for arg in function.args.args]
    if not module.imports_any("django"):
        return False
    if module.class_of(function) is None:
        needed = names[1 : len(names) - len(function.args.defaults)]
        return names[:1] == ["request"] and _RENDERING.isdisjoint(needed)
    verb = getattr(function, "name", "") in ("get", "post", "put", "patch", "delete")
    return verb and names[:2] == ["self", "request"]


_TOOLS = regex(r"(?:^|_)tools?(?:_|$)", re.IGNORECASE)


def is_tool(module: Module, function: FunctionNode) -> bool:
    """True when a decorator offers the function to a language model (``@mcp.tool()``), or a table of tools
    has it.
    """
    name = getattr(function, "name", "")
    if any(isinstance(value, ast.Name) and value.id == name for value in tools_in_tables(module)):
        return True
    if not module.imports_any(*TOOL_LIBRARIES):
        return False
    for decorator in getattr(function, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _last_name(called) in TOOL_MARKS:
            return True
    return False


def tools_in_tables(module: Module) -> list[ast.expr]:
    """What stands in tables of tools: ``TOOLS = {"save": save}``, ``self._tools["run"] = runner.run``."""
    return module.kept("tools in tables", lambda index: list(_tools_in_tables(index)))


def _tools_in_tables(module: Module) -> Iterator[ast.expr]:
    for node in module.all(ast.Assign, ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Subscript) and _TOOLS.search(_last_name(target.value)):
                yield from () if node.value is None else (node.value,)
            elif node.value is not None and _TOOLS.search(_last_name(target)):
                yield from _entries(node.value, 0)


def _entries(value: ast.expr, depth: int) -> Iterator[ast.expr]:
    """What stands in a table: in its values, in pairs, in records (``{"call": save}``) and in what is made of
    them (``Tool(name="save", func=save)``).
    """
    if depth > 3:
        return
    inner: list[ast.expr | None] = []
    if isinstance(value, ast.Dict):
        inner = list(value.values)
    elif isinstance(value, ast.List | ast.Tuple | ast.Set):
        inner = list(value.elts)
    elif isinstance(value, ast.Call) and depth:
        inner = [*value.args, *(keyword.value for keyword in value.keywords)]
    else:
        yield value
    for one in inner:
        if one is not None:
            yield from _entries(one, depth + 1)


def _last_name(expr: ast.expr) -> str:
    """``route`` of ``app.route``, ``tool`` of ``tool``."""
    return expr.attr if isinstance(expr, ast.Attribute) else getattr(expr, "id", "")
