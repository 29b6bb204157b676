"""A TLS connection accepts any certificate.

Whoever is between the two ends reads and changes everything, as without TLS.

Leave verification on; give a private authority's certificate with `verify="ca.pem"` or `cafile=`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Severity
from gate.prescreen.ast_module import Module
from gate.prescreen.ast_rule import AstRule, Hit, about
from gate.prescreen.ast_sinks import HTTP_CALLS

META: Final = about(
    "py.tls-unverified",
    "Certificates are not checked",
    "medium",
    "high",
    topic="tls",
    cwe=(295,),
    why="Anybody on the way can read and change what is sent.",
    fix="Leave verification on; trust a private authority by verify='ca.pem' or cafile=.",
)
_ATTRIBUTES = frozenset({"verify_mode", "check_hostname", "_create_default_https_context", "verify"})
_CHOICE = re.compile(r"verify|insecure|check|cert|ssl|tls|trust", re.IGNORECASE)


def check(module: Module) -> Iterator[Hit]:  # noqa: C901 - one plain case each
    """verify=False, CERT_NONE, check_hostname off, unverified contexts."""
    for call, _ in module.calls(*HTTP_CALLS, "httpx.Client", "httpx.AsyncClient", "requests.Session"):
        if module.is_false(module.arg(call, None, "verify")):
            yield Hit(node=call, message="Certificates are not checked.")
    for call, name in module.calls(
        "ssl._create_unverified_context", "ssl.wrap_socket", "aiohttp.TCPConnector"
    ):
        if (
            name.startswith("ssl._")
            or (name == "ssl.wrap_socket" and module.arg(call, None, "cert_reqs") is None)
            or (name.startswith("aiohttp") and module.is_false(module.arg(call, None, "ssl", "verify_ssl")))
        ):
            yield Hit(node=call, message="Certificates are not checked.")
    for node in module.all(ast.Assign):
        for target in node.targets:
            if not isinstance(target, ast.Attribute) or target.attr not in _ATTRIBUTES:
                continue
            names = module.names_of(node.value)
            level = Severity.LOW if _callers_choice(module, node) else None
            if target.attr == "verify_mode" and "ssl.CERT_NONE" in names:
                yield Hit(node=node, message="Certificates are not checked.", severity=level)
            elif target.attr == "check_hostname" and module.is_false(node.value):
                yield Hit(node=node, message="The host's name is not checked.", severity=level)
            elif target.attr == "_create_default_https_context" and "ssl._create_unverified_context" in names:
                yield Hit(node=node, message="Certificates are not checked anywhere in the process.")
            elif (
                target.attr == "verify"
                and module.is_false(node.value)
                and module.imports_any("requests", "httpx")
            ):
                yield Hit(node=node, message="Certificates are not checked.")
    for keyword in module.all(ast.keyword):
        if keyword.arg == "cert_reqs" and (
            module.text_of(keyword.value) in ("CERT_NONE", "NONE")
            or "ssl.CERT_NONE" in module.names_of(keyword.value)
        ):
            yield Hit(node=keyword.value, message="Certificates are not checked.")
    if module.imports_any("aiohttp"):
        for call in module.methods("get", "post", "put", "patch", "delete", "request", "ws_connect"):
            if any(k.arg in ("ssl", "verify_ssl") and module.const(k.value) is False for k in call.keywords):
                yield Hit(node=call, message="Certificates are not checked.")


def _callers_choice(module: Module, node: ast.AST) -> bool:
    """``if not verify:``: whoever calls decides, and must say so."""
    for up in module.above(node):
        if isinstance(up, ast.If):
            for part in module.within(up.test):
                name = part.id if isinstance(part, ast.Name) else getattr(part, "attr", "")
                if _CHOICE.search(name):
                    return True
    return False


RULE: Final = AstRule(META, check, __doc__ or "")
