"""A database query carries a script that is made from values.

MongoDB runs `$where` as JavaScript: a quote in the value makes it another script.

Compare fields with operators.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import OUTSIDERS, REQUEST

_KEYS = ("$where", "$function", "$accumulator", "mapReduce")


@rule(
    "py.nosql-script",
    "Database script made from values",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(943, 95),
    why="The database runs whatever the value makes of the script.",
    fix="Compare fields with operators such as $eq instead of $where.",
)
def check(module: Module) -> Iterator[Hit]:
    """Dictionaries with such a key and built text, and whole queries taken from a request."""
    flow = Flow(module)
    for table in module.all(ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if module.text_of(key) in _KEYS and built_from(module, value):
                message = "A value becomes part of a script that the database runs."
                level = Severity.HIGH if flow.kinds(value) & OUTSIDERS else None
                yield Hit(node=value, message=message, severity=level)
    if module.imports_any("pymongo", "flask_pymongo", "motor", "mongoengine"):
        for call in module.methods(
            "find", "find_one", "delete_many", "delete_one", "update_one", "update_many"
        ):
            query = call.args[0] if call.args else None
            if query is not None and not isinstance(query, ast.Dict) and REQUEST in flow.kinds(query):
                yield Hit(node=call, message="A request is a whole database query.", severity=Severity.HIGH)
            elif isinstance(query, ast.Dict) and any(_any_json(module, flow, v) for v in query.values):
                message = "A field is compared with whatever JSON a request holds."
                yield Hit(node=call, message=message, severity=Severity.HIGH)


def _any_json(module: Module, flow: Flow, value: ast.expr) -> bool:
    """A value of a JSON body as it came: it can be ``{"$ne": null}``, where a form's is always text."""
    trace = flow.trace(value)
    if (
        REQUEST not in trace.kinds
        or trace.calls & {"str", "int"}
        or flow.tested(value, value, calls_only=True)
    ):
        return False
    return any(
        (isinstance(node, ast.Attribute) and node.attr in ("json", "get_json")) or _is_document(module, node)
        for top in trace.nodes
        for node in module.within(top)
    )


def _is_document(module: Module, node: ast.AST) -> bool:
    """A parameter that FastAPI fills with a JSON document as it came: ``body: dict = Body()``."""
    for binding in module.bindings_of(node) if isinstance(node, ast.Name) else ():
        annotation = getattr(binding.node, "annotation", None) if binding.kind == "param" else None
        inner = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        if getattr(inner, "id", "") in ("dict", "Dict", "Any") and module.imports_any("fastapi"):
            return True
    return False
