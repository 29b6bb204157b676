"""A request decides which fields of an object are set.

Whoever sends the request adds `is_admin` or `price` to it: every field of the object is theirs.

Name the fields that may be set, one by one or in a form or schema.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_LOADERS = frozenset(
    {
        "load",
        "loads",
        "validate",
        "parse_obj",
        "model_validate",
        "validated_data",
        "cleaned_data",
        "model_dump",
        "dict",
    }
)


@rule(
    "py.mass-assignment",
    "Fields chosen by a request",
    severity="medium",
    confidence="medium",
    topic="weak-check",
    cwe=(915,),
    why="The sender adds fields that were not meant to be theirs, such as is_admin.",
    fix="Name the fields that may be set, or let a form or schema pick them.",
)
def check(module: Module) -> Iterator[Hit]:
    """Attributes set by a name from a request; its whole table given as keyword arguments to a class."""
    flow = Flow(module, frozenset(f".{name}" for name in _LOADERS))
    for call, _ in module.calls("setattr"):
        name = call.args[1] if len(call.args) == 3 else None
        chosen = name is not None and REQUEST in _kinds(module, flow, name)
        if name is not None and chosen and not _tested(module, flow, call, name):
            yield Hit(node=call, message="A request names the attribute that is set.")
    yield from _columns(module)
    for call in module.all(ast.Call):
        if not _makes_record(call):
            continue
        for keyword in call.keywords:
            if keyword.arg is None and _whole(flow, keyword.value):
                yield Hit(node=call, message="Every field of a request goes into a new record.")


def _columns(module: Module) -> Iterator[Hit]:
    """``UPDATE users SET {keys}`` with the keys of the request: letters alone, and still any column."""
    flow = Flow(module)
    for call in module.methods("execute", "exec_driver_sql"):
        query = call.args[0] if call.args else None
        pieces = built_from(module, query) if query is not None else None
        first = _first_text(module, flow, query) if pieces and query is not None else ""
        if first.lstrip().lower().startswith(("update", "insert")):
            for piece in pieces or ():
                if REQUEST in flow.kinds(piece) or _all_keys(module, flow, piece):
                    message = "A request names the columns that are written."
                    yield Hit(node=call, message=message, severity=Severity.HIGH)
                    break


def _all_keys(module: Module, flow: Flow, piece: ast.expr) -> bool:
    """Names made of whatever keys a request has, looked at or not, but for a list of those that may be."""
    for node in flow.trace(piece).nodes:
        for inner in module.within(node):
            if isinstance(inner, ast.ListComp | ast.GeneratorExp):
                loop = inner.generators[0]
                listed = any(isinstance(n, ast.Compare) for test in loop.ifs for n in module.within(test))
                trace = flow.trace(loop.iter)
                chosen = any(isinstance(n, ast.Dict | ast.DictComp) for n in trace.nodes)
                if not listed and not chosen and REQUEST in trace.kinds and isinstance(loop.target, ast.Name):
                    return True
    return False


def _first_text(module: Module, flow: Flow, query: ast.expr) -> str:
    texts = [n for top in flow.trace(query).nodes for n in module.within(top) if isinstance(n, ast.JoinedStr)]
    for text in texts:
        if text.values and isinstance(text.values[0], ast.Constant):
            return str(text.values[0].value)
    return ""


def _kinds(module: Module, flow: Flow, name: ast.expr) -> frozenset[str]:
    """Where a name comes from; ``for k, v in request.json.items()`` binds it to what is iterated."""
    kinds = flow.kinds(name)
    if isinstance(name, ast.Name):
        for binding in module.bindings_of(name):
            loop = next((up for up in module.above(binding.node) if isinstance(up, ast.For)), None)
            target = binding.node if isinstance(binding.node, ast.For) else loop
            if isinstance(target, ast.For) and any(
                isinstance(n, ast.Name) and n.id == name.id for n in module.within(target.target)
            ):
                kinds |= flow.kinds(target.iter)
    return kinds


def _tested(module: Module, flow: Flow, call: ast.Call, name: ast.expr) -> bool:
    """``if key in ALLOWED`` around or before it."""
    if not isinstance(name, ast.Name):
        return flow.tested(call, name)
    function = module.function_of(call)
    return any(
        isinstance(node, ast.Name) and node.id == name.id and not _asks_if_there(module, node)
        for test in module.all(ast.If, ast.Assert)
        if module.function_of(test) is function
        for node in module.within(test.test)
    )


def _asks_if_there(module: Module, name: ast.Name) -> bool:
    """``hasattr(user, key)``: every attribute of the record is there, also those that nobody should set."""
    around = module.parents.get(name)
    return isinstance(around, ast.Call) and module.names_of(around.func) in (("hasattr",), ("isinstance",))


def _makes_record(call: ast.Call) -> bool:
    """``User(**...)``, ``User.objects.create(**...)``, ``....values(**...)``."""
    func = call.func
    if isinstance(func, ast.Name):
        return func.id[:1].isupper()
    return isinstance(func, ast.Attribute) and (
        func.attr in ("create", "get_or_create", "update_or_create", "values", "update")
        or func.attr[:1].isupper()
    )


def _whole(flow: Flow, value: ast.expr) -> bool:
    """The request's own table, not one that was put together from named parts of it."""
    trace = flow.trace(value)
    return REQUEST in trace.kinds and not any(isinstance(n, ast.Dict | ast.DictComp) for n in trace.nodes)
