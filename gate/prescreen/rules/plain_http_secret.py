"""A password or key is sent over plain HTTP.

Everybody on the way reads it.

Use `https://`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import HTTP_CALLS, says_secret
from gate.regex import regex

_PLAIN = regex(r"^http://(?!localhost|127\.|\[?::1|0\.0\.0\.0|host\.docker\.internal)", re.IGNORECASE)


@rule(
    "py.plain-http-secret",
    "Secret sent over plain HTTP",
    severity="medium",
    confidence="medium",
    topic="tls",
    cwe=(319, 523),
    why="Everybody on the way between the two machines reads the password.",
    fix="Use an https:// address.",
)
def check(module: Module) -> Iterator[Hit]:
    """HTTP calls to a constant http:// address with auth= or fields named as secrets."""
    for call, _ in module.calls(*HTTP_CALLS):
        address = next((text for a in call.args[:2] if (text := _start(module, a)) and "://" in text), "")
        if _PLAIN.match(address) and _carries(module, call):
            yield Hit(node=call, message="A secret goes over plain HTTP.")


def _start(module: Module, expr: ast.expr) -> str:
    """The constant beginning of an address."""
    whole = module.text_of(expr)
    if whole is not None:
        return whole
    while isinstance(expr, ast.BinOp):
        expr = expr.left
    if isinstance(expr, ast.JoinedStr) and expr.values:
        return "".join(module.text_of(v) or "{}" for v in expr.values)
    return module.text_of(expr) or ""


def _carries(module: Module, call: ast.Call) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "auth" and not module.is_false(keyword.value):
            return True
        value = keyword.value
        if isinstance(value, ast.Name):
            bound = [b.value for b in module.bindings_of(value) if b.value is not None]
            value = bound[-1] if bound else value
        if keyword.arg in ("data", "json", "params", "headers", "cookies") and isinstance(value, ast.Dict):
            keys = [module.text_of(key) or "" for key in value.keys]
            if any(says_secret(key) or key.lower() == "authorization" for key in keys):
                return True
    return False
