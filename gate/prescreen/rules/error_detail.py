"""An error's text goes back to the client.

It tells paths, queries, versions, and who exists: what the next attack needs.

Log the error; answer with a number the log can be searched for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import response_functions
from gate.prescreen.python_ast.rule import Hit, rule

_TRACEBACKS = ("traceback.format_exc", "traceback.format_exception", "sys.exc_info")


@rule(
    "py.error-detail",
    "Error text in a response",
    severity="medium",
    confidence="medium",
    topic="exposure",
    cwe=(209, 200),
    why="Error texts tell paths, queries, versions and who exists.",
    fix="Log the error and answer with a general text.",
)
def check(module: Module) -> Iterator[Hit]:
    """Returns of web handlers that hold the caught exception or a traceback."""
    routes = {id(function) for function in response_functions(module)}
    flow = Flow(module)
    for handler in module.all(ast.ExceptHandler):
        function = module.function_of(handler)
        if function is None or id(function) not in routes:
            continue
        for top in handler.body:
            for node in module.within(top):
                if (
                    isinstance(node, ast.Return)
                    and node.value is not None
                    and _tells(module, flow, node.value, handler.name)
                ):
                    yield Hit(node=node, message="The text of an error is sent to the client.")
    for cls in module.all(ast.FunctionDef):
        if cls.name.startswith(("read", "recv", "receive", "parse", "decode")):
            yield from _raw_content(module, flow, cls)


def _tells(module: Module, flow: Flow, value: ast.expr, name: str | None) -> bool:
    trace = flow.trace(value)
    if any(call in _TRACEBACKS for call in trace.calls):
        return True
    for node in trace.nodes:
        if isinstance(node, ast.Name) and node.id == name:
            parent = module.parents.get(node)
            attribute = parent.attr if isinstance(parent, ast.Attribute) else ""
            if attribute not in (
                "code",
                "status_code",
                "status",
                "errors",
                "name",
                "messages",
                "description",
            ):
                return True
    return False


def _raw_content(module: Module, flow: Flow, function: ast.FunctionDef) -> Iterator[Hit]:
    """``raise EOFError(data)``: what was read from a stream becomes the text of an error."""
    for node in module.within(function):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and len(node.exc.args) == 1:
            given = node.exc.args[0]
            if isinstance(given, ast.Name) and any(c in (".read", ".recv") for c in flow.trace(given).calls):
                yield Hit(node=node, message="What was read becomes the text of an error.")
