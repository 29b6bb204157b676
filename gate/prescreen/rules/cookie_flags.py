"""A cookie that matters is set without `secure` or `httponly`.

It then travels over plain HTTP and can be read by scripts.

Pass `secure=True, httponly=True, samesite="Lax"`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST
from gate.regex import regex

_NAMES = regex(r"sess|auth|token|jwt|login|user|remember|csrf|sid\b|id$|secret", re.IGNORECASE)
_SETTINGS = frozenset({"SESSION_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY", "CSRF_COOKIE_SECURE"})


@rule(
    "py.cookie-flags",
    "Cookie without protection",
    severity="medium",
    confidence="medium",
    topic="exposure",
    cwe=(614, 1004, 319),
    why="The cookie travels over plain HTTP and can be read by any script of the page.",
    fix="Pass secure=True, httponly=True and samesite='Lax'.",
)
def check(module: Module) -> Iterator[Hit]:
    """set_cookie without secure; medium for session-like names and values that come from outside."""
    flow = Flow(module)
    for call in module.methods("set_cookie", "set_signed_cookie"):
        secure = module.arg(call, None, "secure")
        if len(call.args) + len(call.keywords) < 2 or any(k.arg is None for k in call.keywords):
            continue
        if secure is not None and not module.is_false(secure):
            continue
        name = module.text_of(module.arg(call, 0, "key", "name")) or ""
        trace = flow.trace(module.arg(call, 1, "value"))
        matters = (
            bool(_NAMES.search(name))
            or (secure is not None and bool(trace.kinds))
            or REQUEST in trace.kinds
            or any(c.startswith("secrets.") for c in trace.calls)
        )
        yield Hit(
            node=call,
            message="The cookie is sent without the secure flag.",
            severity=None if matters else Severity.LOW,
        )
    for call in module.methods("update", "from_mapping"):
        for keyword in call.keywords:
            if keyword.arg in _SETTINGS and module.is_false(keyword.value):
                yield Hit(node=keyword.value, message="The session cookie's protection is switched off.")
    for node in module.all(ast.Assign):
        for target in node.targets:
            key = (
                module.text_of(target.slice)
                if isinstance(target, ast.Subscript)
                else getattr(target, "id", "")
            )
            if key in _SETTINGS and module.is_false(node.value):
                yield Hit(node=node, message="The session cookie's protection is switched off.")
