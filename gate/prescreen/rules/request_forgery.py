"""The server fetches an address that a request chose.

From inside, the server reaches what the client cannot: cloud metadata, databases, admin pages.

Take the host from a list of allowed ones; check the resolved address; do not follow redirects.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.held_checks import verdicts
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import HTTP_CALLS
from gate.prescreen.python_ast.sources import OUTSIDERS, REQUEST
from gate.regex import regex

_CLEAN = frozenset({
    "urllib.parse.quote", "urllib.parse.quote_plus", "urllib.parse.urlencode", "flask.url_for",
})  # fmt: skip


@rule(
    "py.request-forgery",
    "The server fetches what a request says",
    severity="medium",
    confidence="high",
    topic="network",
    cwe=(918,),
    why="The server can reach internal systems that the client cannot.",
    fix="Choose the host from a list of allowed ones, and encode values that go into the path.",
)
def check(module: Module) -> Iterator[Hit]:
    """HTTP calls whose address carries text of a request that no test looked at."""
    flow = Flow(module, _CLEAN)
    for call, name in module.calls(*HTTP_CALLS):
        position = 1 if name.endswith((".request", ".stream")) and not name.startswith("http.") else 0
        url = module.arg(call, position, "url", "fullurl")
        kinds = flow.kinds(url) if url is not None else frozenset[str]()
        if url is None or kinds.isdisjoint(OUTSIDERS):
            continue
        if REQUEST in kinds and not flow.tested(call, url):
            level = None if _fixed_host(module, url) else Severity.HIGH
            yield Hit(
                node=call, message="A request decides which address the server fetches.", severity=level
            )
        elif not _fixed_host(module, url) and _denies_alone(module, flow, call, url):
            message = "Some hosts are refused; every other spelling and every other host is fetched."
            yield Hit(node=call, message=message, severity=Severity.HIGH)


_INSIDE = regex(
    r"""["'](?:localhost|127\.|0\.0\.0\.0|169\.254\.|10\.|192\.168\.|\[?::1|metadata\.|\.internal|\.local["'])"""
)
_RESOLVES = regex(r"\bipaddress\b|getaddrinfo|gethostby|is_private|is_global|is_loopback")


def _denies_alone(module: Module, flow: Flow, call: ast.Call, url: ast.expr) -> bool:
    """All that looks at the address is a list of hosts that are refused, written down in the code."""
    said = list(verdicts(module, call, flow.trace(url).names))
    if not said or any(one != "deny" for one in said):
        return False
    texts = (module.text, *module.others.values())
    return any(_INSIDE.search(text) for text in texts) and not any(_RESOLVES.search(text) for text in texts)


_HOST = regex(r"https?://[^/\s{}%]+/")


def _fixed_host(module: Module, url: ast.expr) -> bool:
    """The address begins with a constant scheme and host; the request is only what comes behind."""
    first = url
    for _ in range(8):
        text = module.text_of(first)
        if text is not None:
            return bool(_HOST.match(text))
        if isinstance(first, ast.JoinedStr) and first.values:
            first = first.values[0]
        elif isinstance(first, ast.FormattedValue):
            first = first.value
        elif isinstance(first, ast.BinOp):
            first = first.left
        elif isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute):
            first = (
                first.func.value if first.func.attr == "format" else first.args[0] if first.args else first
            )
        elif isinstance(first, ast.Name):
            values = [b.value for b in module.bindings_of(first) if b.value is not None]
            if len(values) != 1:
                return False
            first = values[0]
        else:
            return False
    return False
