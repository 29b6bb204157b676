"""A request decides where the browser is sent.

A link to your site then leads to somebody else's log-in page.

Accept only paths of your own site: check that `urlparse(target).netloc` is empty or in a list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_SINKS = (
    "flask.redirect", "django.shortcuts.redirect", "django.http.HttpResponseRedirect",
    "werkzeug.utils.redirect", "starlette.responses.RedirectResponse",
    "fastapi.responses.RedirectResponse", "bottle.redirect",
    "django.http.HttpResponsePermanentRedirect", "aiohttp.web.HTTPFound", "quart.redirect",
)  # fmt: skip
_CLEAN = frozenset({"flask.url_for", "django.urls.reverse", "urllib.parse.quote", "quart.url_for"})


@rule(
    "py.open-redirect",
    "Redirect to an address from the request",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(601,),
    why="A link to your site can send people to a page that steals their passwords.",
    fix="Redirect only to paths of your own site, or to hosts in a list.",
)
def check(module: Module) -> Iterator[Hit]:
    """Redirects whose target carries text of a request that no test looked at."""
    flow = Flow(module, _CLEAN)
    for node, target in [*_calls(module), *_headers(module)]:
        foreign = REQUEST in flow.kinds(target) and not _own_path(module, target)
        if foreign and not flow.tested(node, target):
            yield Hit(node=node, message="A request decides where the browser is sent.")


def _calls(module: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Calls that redirect, with where to."""
    for call, _ in module.calls(*_SINKS):
        target = module.arg(call, 0, "location", "to", "redirect_to", "url")
        if target is not None:
            yield call, target
    if module.imports_any("tornado", "sanic", "webapp2"):
        for call in module.methods("redirect"):
            if call.args:
                yield call, call.args[0]


def _headers(module: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """A Location header that is set, with where to."""
    for node in module.all(ast.Assign):
        for place in node.targets:
            key = module.text_of(place.slice) if isinstance(place, ast.Subscript) else None
            if (key or "").lower() == "location":
                yield node, node.value
    for call in module.methods("send_header", "add_header", "set_header"):
        if len(call.args) == 2 and (module.text_of(call.args[0]) or "").lower() == "location":
            yield call, call.args[1]


def _own_path(module: Module, target: ast.expr) -> bool:
    """``"/user/" + name`` stays on the site, and so does what begins with an address of its own."""
    if isinstance(target, ast.Name):
        bindings = module.bindings_of(target)
        made = bindings[0].value if bindings and bindings[0].kind == "assign" else None
        grown = all(binding.kind == "augment" for binding in bindings[1:])
        if grown and isinstance(made, ast.Call) and not _CLEAN.isdisjoint(module.names_of(made.func)):
            return True
    first = target.values[0] if isinstance(target, ast.JoinedStr) and target.values else target
    while isinstance(first, ast.BinOp):
        first = first.left
    text = module.text_of(first) or ""
    return (text.startswith("/") and not text.startswith("//") and len(text) > 1) or text.startswith("http")
