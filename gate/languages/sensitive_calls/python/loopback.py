"""Network calls that go no farther than this machine, by a host that is written out."""

from __future__ import annotations

import ast
import re
from typing import Final

from gate.languages.sensitive_calls.python.scopes import Scopes

_HERE: Final = re.compile(
    r"(?:(?:[a-z][a-z0-9+.-]*:)?//)?(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[?::1\]?)(?::[0-9]*)?(?:[/?#]|\Z)",
    re.IGNORECASE,
)
"""A host and its port, and nothing that makes them somebody's name at another host (``localhost:80@x``)."""
_HOSTS: Final = frozenset({"host", "hostname", "url", "base_url", "address", "server", "addr"})
_OF_ONE_HOST: Final = frozenset(
    {"HTTPConnectionPool", "HTTPSConnectionPool", "HTTPConnection", "HTTPSConnection"}
)
"""Classes whose objects talk to the host that they were made with, and to no other."""


def stays_here(call: ast.Call, scopes: Scopes) -> bool:
    """``HTTPConnectionPool("localhost", 80)``, ``get(f"http://127.0.0.1:{port}/")``, and what is called on an
    object of one host that was made so.
    """
    named = [keyword.value for keyword in call.keywords if keyword.arg in _HOSTS]
    given = (
        call.args[1:2] if call.args and _begins(call.args[0]).isupper() else call.args[:1]
    )  # a method first
    for value in named or given:
        text = _begins(value)
        if text and _HERE.match(text):
            return True
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return False
    scope = scopes.inside.get(call.func.value, scopes.top)
    bindings = scope.find(call.func.value.id) or ()
    made = [binding.node for binding in bindings]
    return bool(made) and all(
        isinstance(one, ast.Call) and _name(one.func) in _OF_ONE_HOST and stays_here(one, scopes)
        for one in made
    )


def _begins(value: ast.expr) -> str:
    """The text that a value begins with, as far as it is written out; of ``(host, port)`` the host."""
    if isinstance(value, ast.Tuple) and value.elts:
        value = value.elts[0]
    if isinstance(value, ast.JoinedStr) and len(value.values) > 1:
        first, then = value.values[:2]
        port = isinstance(then, ast.FormattedValue) and "port" in ast.unparse(then.value).lower()
        if isinstance(first, ast.Constant) and str(first.value).endswith(":") and not port:
            return ""
        value = first
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
