"""A request chooses the module or function that is used.

Whoever sends it picks any module on the path, or any attribute of the object.

Look the name up in a table of what may be used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Confidence, Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_HOOKS: Final = frozenset({"object_hook", "object_pairs_hook", "ext_hook", "dec_hook"})
_IMPORTING: Final = (
    "pkgutil.resolve_name", "importlib.import_module", "__import__",
    "django.utils.module_loading.import_string", "werkzeug.utils.import_string",
)  # fmt: skip


@rule(
    "py.chosen-by-request",
    "Code chosen by a request",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(470, 913),
    why="The sender picks any module or function there is, not only those that were meant.",
    fix="Look the name up in a dictionary of what may be used.",
)
def check(module: Module) -> Iterator[Hit]:
    """import_module and __import__ of a request's text; getattr or globals() by one, then called."""
    flow = Flow(module)
    for call, _ in module.calls(
        "importlib.import_module", "__import__", "imp.load_module", "pkgutil.resolve_name"
    ):
        name = call.args[0] if call.args else None
        if REQUEST in flow.kinds(name) and not flow.tested(call, name or call):
            yield Hit(node=call, message="A request chooses the module that is imported.")
    for call, _ in module.calls("getattr"):
        name = call.args[1] if len(call.args) >= 2 else None
        chosen = name is not None and REQUEST in flow.kinds(name) and not flow.tested(call, name)
        if chosen and _called(module, call):
            yield Hit(node=call, message="A request chooses the function that is called.")
    yield from _hooks(module)
    for item in module.all(ast.Subscript):
        spaces = set(module.names_of(item.value))
        if spaces & {"globals()", "locals()"} and REQUEST in flow.kinds(item.slice) and _called(module, item):
            yield Hit(node=item, message="A request chooses the function that is called.")


def _hooks(module: Module) -> Iterator[Hit]:
    """A function that makes objects of what is decoded, and takes their maker's name from it."""
    hooks = {
        keyword.value.id
        for call in module.all(ast.Call)
        for keyword in call.keywords
        if keyword.arg in _HOOKS and isinstance(keyword.value, ast.Name)
    }
    for call, _ in module.calls(*_IMPORTING):
        function = module.function_of(call) if hooks and call.args else None
        named = getattr(function, "name", "") in hooks
        if named and not isinstance(call.args[0], ast.Constant) and _called(module, call):
            message = "Data that is decoded chooses what is called."
            yield Hit(node=call, message=message, severity=Severity.MEDIUM, confidence=Confidence.MEDIUM)


def _called(module: Module, node: ast.expr) -> bool:
    """``getattr(x, name)(...)``, or the name it is given is called."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        return True
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        return any(
            isinstance(call.func, ast.Name) and call.func.id == name
            for call in module.all(ast.Call)
            if module.function_of(call) is module.function_of(node)
        )
    return False
