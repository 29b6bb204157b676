r"""Text of a request becomes a response header.

A line break in it starts another header or the body; even without one the client chooses what your site
says.

Choose header values from a list; strip `\r` and `\n`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_CLEAN = frozenset({
    "urllib.parse.quote", "urllib.parse.quote_plus", ".replace", ".splitlines", "re.sub", "uuid.UUID",
})  # fmt: skip


@rule(
    "py.header-injection",
    "Request text in a response header",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(113, 644),
    why="A line break in the value starts a header or a body of the attacker's.",
    fix="Choose header values from a list, or refuse carriage return and line feed.",
)
def check(module: Module) -> Iterator[Hit]:
    """Assignments to headers, add_header and headers= with text of a request."""
    flow = Flow(module, _CLEAN)
    for node in module.all(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _headers(target.value):
                carried = flow.kinds(node.value) | flow.kinds(target.slice)
                if REQUEST in carried and not flow.tested(node, node.value):
                    yield Hit(node=node, message="Text of a request becomes a response header.")
    for call in module.methods("add_header", "set_header", "send_header", "add", "set"):
        func = call.func
        named = isinstance(func, ast.Attribute) and (func.attr.endswith("_header") or _headers(func.value))
        if named and any(REQUEST in flow.kinds(a) and not flow.tested(call, a) for a in call.args):
            yield Hit(node=call, message="Text of a request becomes a response header.")


def _headers(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "headers":
        owner = node.value
        return getattr(owner, "id", getattr(owner, "attr", "")) not in ("request", "session", "req")
    return False
