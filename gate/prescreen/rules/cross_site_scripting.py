"""Text of a request comes back as HTML without being escaped.

A link can then carry a script that runs in the reader's browser with the reader's session.

Return a template with autoescape on, JSON, or `markupsafe.escape(value)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import response_functions
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import PARAMETER, REQUEST
from gate.regex import regex

_CLEAN = frozenset({
    "html.escape", "markupsafe.escape", "flask.escape", "flask.jsonify", "json.dumps", "cgi.escape",
    "bleach.clean", "flask.render_template", "django.utils.html.escape", "urllib.parse.quote",
    "urllib.parse.quote_plus", "flask.redirect", "flask.url_for", "flask.send_file",
    "flask.send_from_directory", "django.shortcuts.render", "nh3.clean", "hashlib.sha256",
    "django.http.JsonResponse", "xml.sax.saxutils.escape", "eval", "open", "repr",
    "flask.render_template_string", "django.shortcuts.redirect", "sorted",
    "django.utils.html.format_html", "django.utils.html.format_html_join", ".urlencode",
})  # fmt: skip
_RESPONSES = frozenset({
    "flask.make_response", "flask.Response", "django.http.HttpResponse",
    "starlette.responses.HTMLResponse", "fastapi.responses.HTMLResponse", "markupsafe.Markup",
    "flask.Markup", "django.utils.safestring.mark_safe", "bottle.HTTPResponse", "aiohttp.web.Response",
    "werkzeug.Response", "werkzeug.wrappers.Response",
})  # fmt: skip
_UNESCAPED = "Text of a request is sent back unescaped."
_PLAIN = regex(r"json|text/plain|octet|csv|image/|xml")


@rule(
    "py.cross-site-scripting",
    "Request text is sent back as HTML",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(79,),
    why="A link can carry a script that runs with the reader's session.",
    fix="Render a template with autoescape, or escape the value with markupsafe.escape.",
)
def check(module: Module) -> Iterator[Hit]:
    """Responses made of request text, autoescape switched off, and HTML marked safe."""
    flow = Flow(module, _CLEAN)
    for call, name in module.calls(*sorted(_RESPONSES)):
        body = module.arg(call, 0, "response", "content", "text", "body", "base", "s")
        if body is None or _plain(module, call):
            continue
        if name.endswith(("Markup", "mark_safe")) and _of_filter(module, flow, call, body):
            yield Hit(
                node=call, message="What a template's filter is given becomes HTML.", severity=Severity.HIGH
            )
            continue
        if not _textual(module, flow, body):
            continue
        if REQUEST in flow.kinds(body):
            yield Hit(node=call, message=_UNESCAPED, severity=Severity.HIGH)
        elif (
            name.endswith(("Markup", "mark_safe"))
            and PARAMETER in flow.kinds(body)
            and built_from(module, body)
            and not flow.escaped(body)
        ):
            yield Hit(node=call, message="Built text is marked as safe HTML.")
    for function in response_functions(module):
        for value in module.returns_of(function):
            if isinstance(value, ast.Call) and _RESPONSES & set(module.names_of(value.func)):
                continue
            body = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
            pieces = built_from(module, body)
            if pieces and any(REQUEST in flow.kinds(piece) for piece in pieces):
                yield Hit(node=value, message=_UNESCAPED, severity=Severity.HIGH)
    yield from _written(module, flow)
    yield from _autoescape(module)


_FILTERS = frozenset({"filter", "template_filter", "app_template_filter", "stringfilter"})
_TEXT = frozenset({"sub", "subn", "format", "replace", "join", "linebreaks", "urlize", "strip"})


def _of_filter(module: Module, flow: Flow, call: ast.Call, body: ast.expr) -> bool:
    """In a filter of templates: text of its first argument, which any page may hand over, unescaped."""
    function = module.function_of(call)
    marks = getattr(function, "decorator_list", ())
    called = [mark.func if isinstance(mark, ast.Call) else mark for mark in marks]
    names = {getattr(mark, "attr", getattr(mark, "id", "")) for mark in called}
    if function is None or names.isdisjoint(_FILTERS) or not function.args.args or flow.escaped(body):
        return False
    text = bool(built_from(module, body)) or any(
        isinstance(n, ast.Call) and getattr(n.func, "attr", "") in _TEXT for n in flow.trace(body).nodes
    )
    first = function.args.args[0].arg
    return (
        text
        and first in flow.trace(body).names
        and PARAMETER in flow.kinds(body)
        and not _asks_autoescape(function)
    )


def _asks_autoescape(function: ast.AST) -> bool:
    """A filter that is told whether to escape (``needs_autoescape``) decides by itself."""
    return any(getattr(n, "arg", "") == "autoescape" for n in ast.walk(function))


def _written(module: Module, flow: Flow) -> Iterator[Hit]:
    """``self.write`` of a Tornado handler that does not say that it answers anything but HTML."""
    if not module.imports_any("tornado", "webapp2"):
        return
    for call in module.methods("write", "finish"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        body = call.args[0] if call.args else None
        if body is None or getattr(owner, "id", getattr(owner, "attr", "")) not in ("self", "out"):
            continue
        function = module.function_of(call)
        kinds = [
            module.text_of(other.args[1]) or ""
            for other in module.methods("set_header")
            if module.function_of(other) is function and len(other.args) == 2
        ]
        if any(_PLAIN.search(kind) for kind in kinds) or isinstance(body, ast.Dict):
            continue
        if REQUEST in flow.kinds(body) and _textual(module, flow, body):
            yield Hit(node=call, message=_UNESCAPED, severity=Severity.HIGH)


def _plain(module: Module, call: ast.Call) -> bool:
    kind = module.text_of(module.arg(call, None, "mimetype", "content_type", "media_type")) or ""
    if not kind and "aiohttp.web.Response" in module.names_of(call.func):
        return module.arg(call, None, "headers", "content_type") is None  # text/plain is its default
    return bool(_PLAIN.search(kind))


def _textual(module: Module, flow: Flow, body: ast.expr) -> bool:
    """The body is text with the value in it, not an object made from the value."""
    if built_from(module, body):
        return True
    inner = body
    for _ in range(4):
        if isinstance(inner, ast.Name):
            values = [b.value for b in module.bindings_of(inner) if b.value is not None]
            if len(values) != 1:
                break
            inner = values[0]
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        if inner.func.attr in ("replace", "get", "render", "format", "getlist", "strip", "decode"):
            return inner.func.attr != "render" or _no_autoescape(module, flow, inner)
        return False
    return isinstance(inner, ast.Subscript | ast.Attribute)


def _no_autoescape(module: Module, flow: Flow, render: ast.Call) -> bool:
    makers = [n for n in flow.trace(render.func).nodes if isinstance(n, ast.Call)]
    makers = [n for n in makers if {"jinja2.Environment", "jinja2.Template"} & set(module.names_of(n.func))]
    return any(module.arg(n, None, "autoescape") is None for n in makers)


def _autoescape(module: Module) -> Iterator[Hit]:
    for call, _ in module.calls("jinja2.Environment", "jinja2.Template", "jinja2.environment.Environment"):
        given = module.arg(call, None, "autoescape")
        web = module.imports_any("flask", "django", "bottle", "fastapi", "aiohttp", "tornado", "starlette")
        if given is not None and module.is_false(given) and web:
            yield Hit(node=call, message="Autoescape is switched off.")
        elif given is None and web:
            yield Hit(node=call, message="Jinja escapes nothing by default.")
