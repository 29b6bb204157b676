"""Sinks that only get what the program itself chose, or what was checked or escaped for them.

The forward reading (values/) has to be certain of every value that counts. Then what a rule found is a place
to know, and no hole: its severity becomes low. Data that could hide code (a long text in the file) is left
alone where the sink runs what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module

_CLASSES: Final = {
    "py.cross-site-scripting": "html",
    "py.shell-command": "shell",
    "py.remote-command": "shell",
    "py.sql-built": "sql",
    "py.path-from-request": "path",
    "py.upload-name": "path",
    "py.dynamic-code": "code",
    "py.template-injection": "template",
    "py.ldap-built": "ldap",
    "py.xpath-built": "xpath",
    "py.open-redirect": "redirect",
    "py.request-forgery": "address",
    "py.xml-external": "xml",
    "py.xslt-from-request": "xml",
    "py.unsafe-deserialisation": "object",
    "py.header-injection": "header",
    "py.log-injection": "log",
    "py.regex-from-outside": "pattern",
    "py.nosql-script": "nosql",
    "py.trust-boundary": "session",
}
"""Rule -> the class of values/library.py that its sink needs."""
BY_VALUE: Final = frozenset(_CLASSES)
"""Rules for which it counts what a value may be."""
VALUE_WORDS: Final = (
    b"hashlib.new", b"session[", b"redirect(", b".execute(", b".write(", b"open(", b"yaml.load",
    b"-Signature", b"_SIGNATURE", b"x_signature",
)  # fmt: skip
"""Words of files in which such a rule may find something once the files that they import are known."""
_ALL_ARGUMENTS: Final = frozenset({"ldap", "path", "header", "session", "log"})
_BY_OWNER: Final = frozenset({"read_text", "read_bytes", "write_text", "write_bytes", "unlink"})
"""Methods of a path, which is what counts."""
_RUNS: Final = frozenset({"code", "object", "shell"})
_SETTINGS: Final = frozenset({
    "XMLParser", "XMLTreeBuilder", "setFeature", "Environment", "Template", "make_parser",
})  # fmt: skip
"""Calls that only prepare; what is given to those that follow counts."""
_USES: Final = frozenset({
    "fromstring", "parse", "XML", "parseString", "iterparse", "feed", "from_string", "render", "Template",
    "fromstringlist", "render_async",
})  # fmt: skip
_LONG: Final = 60


def is_harmless(module: Module, rule: str, node: ast.AST) -> bool:
    """True when nothing that gets to this sink can do what the rule is about."""
    kind = _CLASSES.get(rule)
    return kind is not None and is_harmless_sink(module, kind, node)


def is_harmless_sink(module: Module, kind: str, node: ast.AST) -> bool:
    """The same for a class of values/library.py, whatever rule found the place."""
    function = module.function_of(node)
    if function is None or (kind in _RUNS and module.kept("long texts", _has_long_text)):
        return False
    values = list(_given(module, node, kind))
    flow = Flow(module)
    return bool(values) and all(flow.is_harmless(value, kind) for value in values)


def _given(module: Module, node: ast.AST, kind: str) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign):
        yield node.value
        yield from (t.slice for t in node.targets if isinstance(t, ast.Subscript))
    elif not isinstance(node, ast.Call):
        if isinstance(node, ast.expr):
            yield node
    elif _called(node) in _SETTINGS and kind in ("xml", "html"):
        function = module.function_of(node)
        for call in module.all(ast.Call):
            if _called(call) in _USES and module.function_of(call) is function:
                yield from call.args[:1]
                yield from (k.value for k in call.keywords if k.arg not in ("parser", "autoescape", "loader"))
    else:
        yield from _arguments(node, kind)


def _arguments(call: ast.Call, kind: str) -> Iterator[ast.expr]:
    many = kind in _ALL_ARGUMENTS
    func = call.func
    if kind == "path" and isinstance(func, ast.Attribute) and func.attr in _BY_OWNER:
        yield func.value  # what is written says nothing of where
        return
    if kind == "path" and _called(call) == "save":
        many = False
    if kind == "path" and isinstance(func, ast.Attribute) and func.attr not in ("open", "copy", "move"):
        owner = func.value
        if not isinstance(owner, ast.Name) or func.attr.endswith(("_text", "_bytes", "unlink")):
            yield owner
    if call.args:
        yield from call.args if many else call.args[:1]
    else:
        yield from (k.value for k in call.keywords)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _has_long_text(module: Module) -> bool:
    """True when the file has a text that may be data in disguise; documentation is none."""
    return any(
        isinstance(item.value, str | bytes)
        and len(item.value) >= _LONG
        and len(item.value.split()) <= len(item.value) // 30
        for item in module.all(ast.Constant)
        if not isinstance(module.parents.get(item), ast.Expr)
    )
