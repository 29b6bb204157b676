"""A TLS connection accepts any certificate.

Whoever is between the two ends reads and changes everything, as without TLS.

Leave verification on; give a private authority's certificate with `verify="ca.pem"` or `cafile=`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import HTTP_CALLS
from gate.regex import regex

_ATTRIBUTES = frozenset({"verify_mode", "check_hostname", "_create_default_https_context", "verify"})
_UNCHECKED = "Certificates are not checked."
_CHOICE = regex(r"verify|insecure|check|cert|ssl|tls|trust", re.IGNORECASE)


@rule(
    "py.tls-unverified",
    "Certificates are not checked",
    severity="medium",
    confidence="high",
    topic="tls",
    cwe=(295,),
    why="Anybody on the way can read and change what is sent.",
    fix="Leave verification on; trust a private authority by verify='ca.pem' or cafile=.",
)
def check(module: Module) -> Iterator[Hit]:
    """verify=False, CERT_NONE, check_hostname off, unverified contexts."""
    yield from _unverified_calls(module)
    for node in module.all(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and target.attr in _ATTRIBUTES:
                yield from _unverified_attribute(module, node, target.attr)
    for keyword in module.all(ast.keyword):
        if keyword.arg == "cert_reqs" and (
            module.text_of(keyword.value) in ("CERT_NONE", "NONE")
            or "ssl.CERT_NONE" in module.names_of(keyword.value)
        ):
            yield Hit(node=keyword.value, message=_UNCHECKED)
        if keyword.arg in ("verify", "verify_ssl") and _off_unless_given(module, keyword.value):
            yield Hit(
                node=keyword.value, message="Certificates are not checked where nothing else is asked for."
            )


def _off_unless_given(module: Module, value: ast.expr) -> bool:
    """``ca or False``: off by default, in a program that asks web servers."""
    off = (
        isinstance(value, ast.BoolOp)
        and isinstance(value.op, ast.Or)
        and module.const(value.values[-1]) is False
    )
    return off and module.imports_any("requests", "httpx", "aiohttp", "urllib3")


def _unverified_calls(module: Module) -> Iterator[Hit]:
    for call, _ in module.calls(*HTTP_CALLS, "httpx.Client", "httpx.AsyncClient", "requests.Session"):
        if module.is_false(module.arg(call, None, "verify")):
            yield Hit(node=call, message=_UNCHECKED)
    for call, name in module.calls(
        "ssl._create_unverified_context", "ssl.wrap_socket", "aiohttp.TCPConnector"
    ):
        if (
            name.startswith("ssl._")
            or (name == "ssl.wrap_socket" and module.arg(call, None, "cert_reqs") is None)
            or (name.startswith("aiohttp") and module.is_false(module.arg(call, None, "ssl", "verify_ssl")))
        ):
            yield Hit(node=call, message=_UNCHECKED)
    if module.imports_any("aiohttp"):
        for call in module.methods("get", "post", "put", "patch", "delete", "request", "ws_connect"):
            if any(k.arg in ("ssl", "verify_ssl") and module.const(k.value) is False for k in call.keywords):
                yield Hit(node=call, message=_UNCHECKED)


def _unverified_attribute(module: Module, node: ast.Assign, attribute: str) -> Iterator[Hit]:
    names = module.names_of(node.value)
    off = module.is_false(node.value)
    level = Severity.LOW if _callers_choice(module, node) else None
    if attribute == "verify_mode" and "ssl.CERT_NONE" in names:
        yield Hit(node=node, message=_UNCHECKED, severity=level)
    elif attribute == "check_hostname" and off:
        yield Hit(node=node, message="The host's name is not checked.", severity=level)
    elif attribute == "_create_default_https_context" and "ssl._create_unverified_context" in names:
        yield Hit(node=node, message="Certificates are not checked anywhere in the process.")
    elif attribute == "verify" and off and module.imports_any("requests", "httpx"):
        yield Hit(node=node, message=_UNCHECKED)


def _callers_choice(module: Module, node: ast.AST) -> bool:
    """``if not verify:``: whoever calls decides, and must say so."""
    for up in module.above(node):
        if isinstance(up, ast.If):
            for part in module.within(up.test):
                name = part.id if isinstance(part, ast.Name) else getattr(part, "attr", "")
                if _CHOICE.search(name):
                    return True
    return False
