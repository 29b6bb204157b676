"""An XML parser follows what the document says: external files, addresses, entities that grow without
end.

A document can then read files of the server or use up its memory.

Use `defusedxml`, or `XMLParser(resolve_entities=False, no_network=True)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Confidence, Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import FILE, INPUT, NETWORK, PARAMETER, REQUEST

_LXML = (
    "lxml.etree.parse",
    "lxml.etree.fromstring",
    "lxml.etree.XML",
    "lxml.etree.iterparse",
    "lxml.objectify.parse",
    "lxml.objectify.fromstring",
)
_STDLIB = (
    "xml.etree.ElementTree.parse", "xml.etree.ElementTree.fromstring", "xml.etree.ElementTree.XML",
    "xml.etree.ElementTree.iterparse", "xml.etree.cElementTree.fromstring",
    "xml.etree.cElementTree.parse", "xml.dom.minidom.parse", "xml.dom.minidom.parseString",
    "xml.sax.parse", "xml.sax.parseString", "xml.dom.pulldom.parse", "xml.dom.pulldom.parseString",
    "xml.dom.expatbuilder.parseString",
)  # fmt: skip


@rule(
    "py.xml-external",
    "XML parser expands entities",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(611, 776, 827),
    why="The document can read the server's files or fill its memory.",
    fix="Use defusedxml, or lxml's XMLParser(resolve_entities=False, no_network=True).",
)
def check(module: Module) -> Iterator[Hit]:
    """Parsers fed by a request or the network; lxml parsers that resolve entities."""
    flow = Flow(module)
    for call, name in module.calls(*_LXML, *_STDLIB):
        source = module.arg(call, 0, "source", "text", "file", "string")
        kinds = flow.kinds(source)
        parser = module.arg(call, 1, "parser") if name.startswith("lxml") else None
        if parser is not None and _hardened(module, flow, parser):
            continue
        if kinds & {REQUEST, NETWORK}:
            message = "XML from outside is parsed with entities expanded."
            reads = name in _LXML or name.startswith("xml.sax")
            # A parser that another file makes may be a safe one: a run has to show it.
            reads = reads and (parser is None or bool(_makers(flow, module, parser)))
            yield Hit(
                node=call, message=message, severity=Severity.HIGH if reads and REQUEST in kinds else None
            )
        elif (
            parser is not None and _default_parser(flow, module, parser) and kinds & {PARAMETER, FILE, INPUT}
        ):
            yield Hit(
                node=call,
                message="XML is parsed by a parser that expands entities.",
                confidence=Confidence.LOW,
            )
    for call, _ in module.calls("lxml.etree.XMLParser", "lxml.etree.XMLTreeBuilder"):
        if any(
            module.is_true(module.arg(call, None, key))
            and module.text_of(module.arg(call, None, key)) != _INTERNAL
            for key in ("resolve_entities", "load_dtd", "huge_tree", "dtd_validation")
        ):
            yield Hit(node=call, message="The parser is told to expand entities or to load document types.")
        elif module.is_false(module.arg(call, None, "no_network")):
            yield Hit(node=call, message="The parser may use the network.")
    for call in module.methods("setFeature"):
        names = module.names_of(module.arg(call, 0))
        external = any(n.endswith(("feature_external_ges", "feature_external_pes")) for n in names)
        if external and module.is_true(module.arg(call, 1)):
            yield Hit(node=call, message="The parser is told to load external entities.")


_INTERNAL = "internal"
"""lxml's word for entities that the document itself holds: no file is read."""


def _makers(flow: Flow, module: Module, parser: ast.expr) -> list[ast.Call]:
    calls = [n for n in flow.trace(parser).nodes if isinstance(n, ast.Call)]
    return [n for n in calls if any(name.endswith("Parser") for name in module.names_of(n.func))]


def _default_parser(flow: Flow, module: Module, parser: ast.expr) -> bool:
    return any(
        "lxml.etree.XMLParser" in module.names_of(n.func) and module.arg(n, None, "resolve_entities") is None
        for n in _makers(flow, module, parser)
    )


def _hardened(module: Module, flow: Flow, parser: ast.expr) -> bool:
    return any(
        module.is_false(module.arg(n, None, "resolve_entities"))
        or module.text_of(module.arg(n, None, "resolve_entities")) == _INTERNAL
        or "HTMLParser" in "".join(module.names_of(n.func))
        for n in _makers(flow, module, parser)
    )
