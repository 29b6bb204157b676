"""An XPath query is put together from values.

A quote in the value changes the query: a log-in check finds somebody although the password is wrong.

Use variables: `tree.xpath("//user[name=$name]", name=name)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import INPUT, NETWORK, PARAMETER, REQUEST
from gate.regex import regex

_QUOTED = regex(r"\[[^\]]*=\s*['\"]?$|=\s*['\"]|['\"]%s|\[@?[\w-]+\s*=|//|/text\(\)")


@rule(
    "py.xpath-built",
    "XPath is put together from values",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(643, 943),
    why="A quote in a value changes what the query asks.",
    fix="Use XPath variables: tree.xpath('//user[name=$name]', name=name).",
)
def check(module: Module) -> Iterator[Hit]:
    """xpath, find and XPath() with a text that holds values."""
    flow = Flow(module, frozenset({"lxml.etree.XPath"}))
    calls = [*module.methods("xpath", "findall", "iterfind", "find", "findtext", "evaluate", "selectNodes")]
    calls.extend(
        call for call, _ in module.calls("lxml.etree.XPath", "lxml.etree.ETXPath", "elementpath.select")
    )
    for call in calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        query = module.arg(call, 1 if name == "select" else 0, "path", "query", "expression")
        kinds = flow.kinds(query)
        if query is not None and REQUEST in kinds and name in ("xpath", "XPath"):
            yield Hit(node=call, message="A request becomes part of an XPath query.", severity=Severity.HIGH)
            continue
        pieces = built_from(module, query)
        if not pieces or query is None or not kinds & {REQUEST, NETWORK, INPUT, PARAMETER}:
            continue
        if not (
            name in ("xpath", "XPath") or module.imports_any("lxml", "xml.etree", "defusedxml", "elementpath")
        ):
            continue
        texts = [n.value for n in flow.trace(query).nodes if isinstance(n, ast.Constant)]
        if any(isinstance(t, str) and _QUOTED.search(t) and "'" in t + '"' * ('"' in t) for t in texts):
            yield Hit(node=call, message="A value becomes part of an XPath query.")
