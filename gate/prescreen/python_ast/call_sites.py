"""Who calls a function of the same file, and with which expression for a parameter.

Names are resolved as Python would: a function by its name, a method through ``self`` or ``cls``, or by a name
that only one class of the file has. A call with ``*args`` before the parameter says nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.handed_calls import handed_calls
from gate.prescreen.python_ast.index import Index
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scope import FunctionNode

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST: Final = 20
"""Calls of one function that are looked at."""
CallSites = dict[ast.AST, list[ast.Call]]


def call_sites(module: Module) -> CallSites:
    """Every call of a function that the file itself defines, by the function."""
    methods = module.kept("methods", _methods)
    found: CallSites = {}
    for call in (*module.all(ast.Call), *handed_calls(module)):
        for function in _called(module, call.func, methods):
            sites = found.setdefault(function, [])
            if len(sites) < _MOST:
                sites.append(call)
    return found


def called_function(module: Module, call: ast.Call) -> FunctionNode | None:
    """The one plain function of this file that a call runs: no decorator changes it. None where unknown."""
    found = list(_called(module, call.func, module.kept("methods", _methods)))
    if len(found) != 1 or not isinstance(found[0], _FUNCTIONS):
        return None
    plain = {"staticmethod", "classmethod"}
    if any(not plain & set(module.names_of(d)) for d in found[0].decorator_list):
        return None
    return found[0]


def _called(module: Module, callee: ast.expr, methods: dict[str, list[ast.AST]]) -> Iterator[ast.AST]:
    if isinstance(callee, ast.Name):
        yield from (b.node for b in module.bindings_of(callee) if b.kind == "def")
    elif isinstance(callee, ast.Attribute):
        named = methods.get(callee.attr, [])
        if isinstance(callee.value, ast.Name) and callee.value.id in ("self", "cls"):
            own = module.class_of(callee)
            yield from (m for m in named if module.parents.get(m) is own)
        elif len(named) == 1 and not module.names_of(callee):
            yield named[0]


def _methods(index: Index) -> dict[str, list[ast.AST]]:
    found: dict[str, list[ast.AST]] = {}
    for function in index.all(*_FUNCTIONS):
        if isinstance(index.parents.get(function), ast.ClassDef):
            found.setdefault(function.name, []).append(function)
    return found


def argument_for(module: Module, function: FunctionNode, name: str, call: ast.Call) -> ast.expr | None:
    """What ``call`` gives the function for its parameter ``name``; None where it does not say."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if name not in names:
        return module.arg(call, None, name)
    bound = isinstance(module.parents.get(function), ast.ClassDef) and isinstance(call.func, ast.Attribute)
    bound = bound or _is_task_with_self(module, function, names)
    static = any("staticmethod" in module.names_of(d) for d in getattr(function, "decorator_list", ()))
    position = names.index(name) - (1 if bound and not static else 0)
    return module.arg(call, position if position >= 0 else None, name)


def _is_task_with_self(module: Module, function: FunctionNode, names: list[str]) -> bool:
    """``@app.task(bind=True) def report(self, name)``: the queue gives the first one."""
    in_class = isinstance(module.parents.get(function), ast.ClassDef)
    return names[:1] == ["self"] and not in_class and bool(getattr(function, "decorator_list", ()))


def passed_from_outside(module: Module, function: FunctionNode, name: str) -> Iterator[str]:
    """The kinds that other files pass to the function for its parameter ``name`` (outside_calls.py)."""
    if not module.outside or isinstance(function, ast.Lambda):
        return
    owner = module.parents.get(function)
    bound = isinstance(owner, ast.ClassDef)
    called = f"{owner.name}.{function.name}" if isinstance(owner, ast.ClassDef) else function.name
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    for said in (called, f"?.{function.name}" if bound else ""):
        given = module.outside.get(said, {})
        yield from given.get(name, ())
        if name in names:
            shift = 1 if bound or _is_task_with_self(module, function, names) else 0
            yield from given.get(str(names.index(name) - shift), ())


def through_wrappers(module: Module, call: ast.Call, given: ast.expr) -> Iterator[tuple[ast.Call, ast.expr]]:
    """A call and one of its arguments; where that is nothing but a parameter of the function around, the
    calls of that function in this file with what they give for it: ``self._search(query)``.
    """
    yield call, given
    if not isinstance(given, ast.Name):
        return
    bindings = module.bindings_of(given)
    if len(bindings) != 1 or bindings[0].kind != "param":
        return
    function = module.function_of(bindings[0].node)
    if function is None:
        return
    for site in module.kept("call sites", call_sites).get(function, ()):
        passed = argument_for(module, function, given.id, site)
        if passed is not None:
            yield site, passed
