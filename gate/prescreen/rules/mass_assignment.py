"""A request decides which fields of an object are set.

Whoever sends the request adds `is_admin` or `price` to it: every field of the object is theirs.

Name the fields that may be set, one by one or in a form or schema.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.class_bases import bases_of
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.held_checks import kept_by, verdicts
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_LOADERS = frozenset(
    {
        "load",
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
    for call, _ in module.calls("setattr", "object.__setattr__"):
        name = call.args[1] if len(call.args) == 3 else None
        chosen = name is not None and REQUEST in _kinds(module, flow, name)
        if name is not None and chosen and not _allowed(module, flow, call, name):
            whole = not isinstance(name, ast.JoinedStr | ast.BinOp)  # f"is_{name}" is one of few
            level = Severity.HIGH if whole and _is_kept(module, call) else None
            yield Hit(node=call, message="A request names the attribute that is set.", severity=level)
    yield from _columns(module)
    yield from _namespaces(module, flow)
    for call in module.all(ast.Call):
        if not _makes_record(call) or _is_schema(module, call):
            continue
        for keyword in call.keywords:
            if keyword.arg is None and _whole(module, flow, keyword.value):
                yield Hit(node=call, message="Every field of a request goes into a new record.")


def _namespaces(module: Module, flow: Flow) -> Iterator[Hit]:
    """``user.__dict__.update(body)``, ``vars(user).update(body)``."""
    for call in module.methods("update"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        inner = isinstance(owner, ast.Attribute) and owner.attr == "__dict__"
        inner = inner or (isinstance(owner, ast.Call) and module.names_of(owner.func) == ("vars",))
        for given in (*call.args, *(k.value for k in call.keywords if k.arg is None)) if inner else ():
            if _whole(module, flow, given):
                level = Severity.HIGH if _is_kept(module, call) else None
                yield Hit(node=call, message="A request names the attributes that are set.", severity=level)
                break


_KEEPS = frozenset({"save", "asave", "commit", "flush", "add", "put", "merge", "save_changes", "bulk_update"})


def _is_kept(module: Module, call: ast.Call) -> bool:
    """The function around saves a record."""
    function = module.function_of(call)
    return function is not None and any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPS
        for node in module.within(function)
    )


def _is_schema(module: Module, call: ast.Call) -> bool:
    """A class that looks at what it is given: a form, a schema."""
    names = [name.rpartition(".")[2] for name, _ in bases_of(module, call.func)]
    return any(name in ("BaseModel", "Schema", "Form", "ModelForm", "Serializer") for name in names)


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


def _allowed(module: Module, flow: Flow, call: ast.Call, name: ast.expr) -> bool:
    """Only names that somebody wrote down get there. A deny list forgets some, and every attribute of a
    record is there (``hasattr``), also those that nobody should set.
    """
    names = {name.id} if isinstance(name, ast.Name) else set[str]()
    loops = [up for up in module.above(call) if isinstance(up, ast.For)]
    nodes = list(flow.trace(name).nodes)
    for loop in loops:
        if any(isinstance(n, ast.Name) and n.id in names for n in module.within(loop.target)):
            nodes += flow.trace(loop.iter).nodes
            names |= {n.id for n in module.within(loop.iter) if isinstance(n, ast.Name)}
    names |= flow.trace(name).names
    made = [v for node in nodes if isinstance(node, ast.expr) for v in kept_by(module, node, frozenset())]
    return any(said != "deny" for said in (*made, *verdicts(module, call, names)))


def _makes_record(call: ast.Call) -> bool:
    """``User(**...)``, ``User.objects.create(**...)``, ``....values(**...)``."""
    func = call.func
    if isinstance(func, ast.Name):
        return func.id[:1].isupper()
    return isinstance(func, ast.Attribute) and (
        func.attr in ("create", "get_or_create", "update_or_create", "values", "update")
        or func.attr[:1].isupper()
    )


def _whole(module: Module, flow: Flow, value: ast.expr) -> bool:
    """The request's own table, not one that was put together from named parts of it."""
    trace = flow.trace(value)
    if REQUEST not in trace.kinds:
        return False
    for node in trace.nodes:
        if isinstance(node, ast.DictComp):
            said = list(kept_by(module, node, frozenset()))
            from_request = any(REQUEST in flow.kinds(one.iter) for one in node.generators)
            if not from_request or any(one != "deny" for one in said):
                return False
        elif isinstance(node, ast.Dict) and not any(key is None for key in node.keys):
            return False
    return True
