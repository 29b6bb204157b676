"""Text of a request is put into the session as it came.

What stands in the session is taken for something that the application itself found out. A later check of it
then trusts what the client said.

Check the value first: take it from a list, or look it up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_SESSIONS = ("flask.session", "quart.session", "bottle.request.session")
_STORES = frozenset({"setdefault", "update", "set"})


@rule(
    "py.trust-boundary",
    "Request text in the session",
    severity="medium",
    confidence="low",
    topic="injection",
    cwe=(501,),
    why="What is read from the session later is trusted as if the application had found it out.",
    fix="Check the value before it is stored: take it from a list, or look it up.",
)
def check(module: Module) -> Iterator[Hit]:
    """Stores into a session whose key or value carries text of a request that no test looked at."""
    flow = Flow(module)
    for node, parts in _stores(module):
        if any(REQUEST in flow.kinds(part) and not flow.tested(node, part) for part in parts):
            yield Hit(node=node, message="Text of a request is stored in the session.")


def _stores(module: Module) -> Iterator[tuple[ast.AST, list[ast.expr]]]:
    for node in module.all(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _is_session(module, target.value):
                yield node, [target.slice, node.value]
    for call in module.methods(*sorted(_STORES)):
        if isinstance(call.func, ast.Attribute) and _is_session(module, call.func.value):
            yield call, [*call.args, *(k.value for k in call.keywords)]


def _is_session(module: Module, owner: ast.expr) -> bool:
    if any(name in _SESSIONS for name in module.names_of(owner)):
        return True
    part = isinstance(owner, ast.Attribute) and owner.attr == "session"
    return part and module.is_web and getattr(getattr(owner, "value", None), "id", "") in ("request", "req")
