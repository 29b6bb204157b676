"""Network calls that go no farther than this machine, by a host that is written out."""

from __future__ import annotations

import ast
import re
from typing import Final

from gate.languages.sensitive_calls.python.scopes import Scopes
from gate.regex import regex

_HERE: Final = regex(
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
    hosts = [keyword.value for keyword in call.keywords if keyword.arg in _HOSTS]
    method = bool(call.args) and _written(call.args[0]).isupper()
    hosts += call.args[1:2] if method else call.args[:1]
    if hosts and all(_HERE.match(_written(host)) for host in hosts):
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


def _written(value: ast.expr) -> str:
    """The text of a value; of ``(host, port)`` the host. A port that is filled in is ``0``; all else that is
    not written out is a NUL, which no host has.
    """
    match value:
        case ast.Tuple(elts=[host, *_]):
            return _written(host)
        case ast.JoinedStr(values=parts):
            return "".join(map(_written, parts))
        case ast.FormattedValue(value=filled) if "port" in ast.unparse(filled).lower():
            return "0"
        case ast.Constant(value=str() as text):
            return text
    return "\0"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
