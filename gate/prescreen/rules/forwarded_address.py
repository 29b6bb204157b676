"""A decision rests on `X-Forwarded-For` or a header like it.

Any client can send that header with any address in it.

Take the address from the proxy you run (`ProxyFix` with the right count), or from the connection.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_HEADERS = frozenset({
    "x-forwarded-for", "x-real-ip", "x-client-ip", "http_x_forwarded_for", "client-ip",
    "true-client-ip", "http_x_real_ip", "http_client_ip", "x-originating-ip", "x-forwarded-host",
    "x-remote-user",
})  # fmt: skip


@rule(
    "py.forwarded-address",
    "Client's own word about its address",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(348, 290),
    why="Any client can send the header with any address.",
    fix="Use the connection's address, or werkzeug's ProxyFix with the number of your own proxies.",
)
def check(module: Module) -> Iterator[Hit]:
    """Comparisons and prefix tests of a value that such a header gave."""
    flow = Flow(module)
    sources = {
        node
        for node in module.all(ast.Constant)
        if isinstance(node.value, str) and node.value.lower() in _HEADERS
    }
    if not sources:
        return
    makers = {module.parents.get(node) for node in sources}
    for test in module.all(ast.If, ast.IfExp, ast.While):
        for node in module.within(test.test):
            parts: list[ast.expr] = []
            if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Is | ast.IsNot):
                parts = [node.left, *node.comparators]
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("startswith", "match")
            ):
                parts = [node.func.value, *node.args]
            if any(not makers.isdisjoint(flow.trace(part).nodes) for part in parts):
                yield Hit(node=test, message="A header that the client writes decides.")
                break
