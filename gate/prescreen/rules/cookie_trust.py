"""A cookie says who somebody is, and is believed.

Cookies are written by the browser: anybody sends `admin=true`.

Keep what decides about rights in the session on the server, or sign the cookie.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_RIGHTS = regex(
    r"^(?:is_?)?(?:admin|role|logged_?in|authenticated|auth|privilege|user_?type|level)$", re.IGNORECASE
)


@rule(
    "py.cookie-trust",
    "Rights taken from a cookie",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(565, 784, 287, 807),
    why="Anybody can send a cookie that says admin=true.",
    fix="Keep rights in the server's session, or sign the cookie and check the signature.",
)
def check(module: Module) -> Iterator[Hit]:
    """A comparison or plain test of a request's cookie that is named as a right."""
    for node in module.all(ast.Compare, ast.If):
        parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node.test]
        if any(_RIGHTS.match(_cookie(module, part)) for part in parts):
            yield Hit(node=parts[0], message="A cookie decides about rights.")


def _cookie(module: Module, expr: ast.expr) -> str:
    """The name of the cookie an expression reads, through one name."""
    if isinstance(expr, ast.Name):
        bound = [b.value for b in module.bindings_of(expr) if b.value is not None]
        expr = bound[-1] if len(bound) == 1 and isinstance(bound[0], ast.expr) else expr
    key: ast.expr | None = None
    if isinstance(expr, ast.Subscript):
        owner, key = expr.value, expr.slice
    elif isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr == "get":
        owner, key = expr.func.value, expr.args[0] if expr.args else None
    else:
        return ""
    cookies = isinstance(owner, ast.Attribute) and owner.attr in ("cookies", "COOKIES")
    return (module.text_of(key) or "") if cookies and key is not None else ""
