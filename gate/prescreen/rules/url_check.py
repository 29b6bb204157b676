"""A URL or host name is checked by its end, or by a piece of it.

`evil-example.com` ends with `example.com`; `example.com.evil.org` contains it.

Parse it and compare the host: `host == "example.com" or host.endswith(".example.com")`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import words_of
from gate.regex import regex

_HOST = regex(r"^[\w-]*(\.[\w-]+)*\.(com|org|net|io|edu|gov|dev|info|app|co|[a-z]{2})/?$", re.IGNORECASE)
_URLISH = regex(
    r"(?:^|_)(?:url|uri|href|host|hostname|domain|netloc|origin|referer|referrer|target|link)s?(?:_|$)",
    re.IGNORECASE,
)
_PARSERS = frozenset({
    "urllib.parse.urlparse", "urllib.parse.urlsplit", "urlparse.urlparse", "yarl.URL", "httpx.URL",
})  # fmt: skip


@rule(
    "py.url-check",
    "Host name checked by a piece of it",
    severity="medium",
    confidence="medium",
    topic="validation",
    cwe=(20,),
    why="Anybody can register a name that ends with, or contains, the one that is checked.",
    fix="Compare the parsed host: host == name or host.endswith('.' + name).",
)
def check(module: Module) -> Iterator[Hit]:
    """endswith() and in on host names without a dot in front, or on the end of a whole URL."""
    flow = Flow(module)
    for call in module.methods("endswith"):
        if not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        if _is_url(flow, call.func.value) and _loose(module, flow, call.args[0], call.func.value):
            yield Hit(node=call, message="Another host can end the same way.")
    for node in module.all(ast.Compare):
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            left, right = node.left, node.comparators[0]
            if _netloc(flow, right) and _netloc(flow, left):
                yield Hit(node=node, message="Another host can contain this one's name.")
            elif _is_url(flow, right) and _HOST.match(module.text_of(left) or ""):
                yield Hit(node=node, message="Another host can contain this name.", severity=Severity.LOW)


def _is_url(flow: Flow, expr: ast.expr) -> bool:
    name = expr.id if isinstance(expr, ast.Name) else getattr(expr, "attr", "")
    return bool(_URLISH.search(words_of(name))) or _netloc(flow, expr)


def _netloc(flow: Flow, expr: ast.expr) -> bool:
    return getattr(expr, "attr", "") in ("netloc", "hostname", "host") and bool(
        flow.trace(expr).calls & _PARSERS
    )


def _loose(module: Module, flow: Flow, suffix: ast.expr, value: ast.expr) -> bool:
    text = module.text_of(suffix)
    if text is not None:
        return bool(_HOST.match(text)) and (not text.startswith(".") or text.endswith("/"))
    return _netloc(flow, suffix) and _netloc(flow, value)
