"""What a module of JavaScript or TypeScript defines, exports and uses by name: as python_source.Facts has it.

Read by the grammar in the limited child. A hint: it chooses what is called, and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from tree_sitter import Node

from gate.languages.javascript import grammar_of
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.tree_sitter_parse import parse, walk
from gate.plan.python_source import Definition, Facts

_READER: Final = Reader(f"{__name__}:read_definitions", dict[str, Any], parses=True, pure=True)
_SECONDS: Final = 10.0
_MOST: Final = 3_000
"""Definitions of one file."""
_FUNCTIONS: Final = frozenset({
    "function_declaration", "function_expression", "arrow_function", "generator_function",
    "generator_function_declaration", "method_definition",
})  # fmt: skip
_CLASSES: Final = frozenset({"class_declaration", "abstract_class_declaration", "class"})
_NAMES: Final = frozenset({
    "identifier", "property_identifier", "shorthand_property_identifier", "private_property_identifier",
    "shorthand_property_identifier_pattern",
})  # fmt: skip
_DEFAULT: Final = "default@"
"""Before the name of a file: what it exports without a name."""


def read_script_facts(sources: Mapping[str, bytes]) -> dict[str, Facts | None]:
    """Facts per path; None where a source cannot be read. Definitions are those that others can reach."""
    if not sources:
        return {}
    results = scan_isolated(_READER, sorted(sources.items()), deadline=_SECONDS)
    told = {one.path: one.value for one in results if one.outcome == "done"}
    return {path: _facts(told.get(path)) for path in sources}


def _facts(raw: Mapping[str, Any] | None) -> Facts | None:
    if raw is None:
        return None
    return Facts(
        definitions=tuple(
            Definition(name=name, first=first, last=last, risk=0, uses=frozenset(uses))
            for name, first, last, uses in raw["defs"]
        ),
        names=tuple((name, first, last) for name, first, last in raw["names"]),
        guard=False,
        ends=False,
        imports=frozenset(raw["imported"]),
        exported=frozenset(raw["exported"]),
    )


def read_definitions(path: str, data: bytes, options: Mapping[str, object]) -> dict[str, Any]:
    """One file, for scan_isolated."""
    del options
    return _Module(path, parse(data, grammar_of(path))).told()


def default_of(path: str) -> str:
    """The name that stands for what a file exports without one."""
    at = PurePosixPath(path)
    stem = at.name.split(".")[0]
    return _DEFAULT + (at.parent.name if stem == "index" else stem)


def written_as(name: str) -> bytes:
    """A pattern of how a text names it: what has no name by the address of its file."""
    if name.startswith(_DEFAULT):
        return rb"[/\"'`]" + re.escape(name.removeprefix(_DEFAULT).encode()) + rb"(?:/index)?(?:\.\w+)?[\"'`]"
    return rb"\b" + re.escape(name.encode()) + rb"\b"


class _Module:
    """One text. Names of functions in a class, an object or what a function gives back have its name in
    front.
    """

    def __init__(self, path: str, root: Node) -> None:
        self._path = path
        self._root = root
        self._defs: list[tuple[str, Node]] = []
        self._names: list[tuple[str, Node]] = []
        self._aliases: dict[str, set[str]] = {}
        self._exported: dict[str, str] = {}
        self._imported: set[str] = set()

    def told(self) -> dict[str, Any]:
        for node in self._root.named_children:
            self._statement(node)
        for one in walk(self._root, frozenset()):
            if one.type == "call_expression":
                source = _required(one)
            elif one.type in ("import_statement", "export_statement"):
                source = _said(one.child_by_field_name("source"))
            else:
                continue
            if source:
                self._imported.add(default_of(source))
        return {
            "defs": [
                [self._outward(name), *_span(node), sorted(self._uses(node))]
                for name, node in self._defs[:_MOST]
            ],
            "names": [[name, *_span(node)] for name, node in self._names[:_MOST]],
            "exported": sorted({*self._exported.values()}),
            "imported": sorted(self._imported),
        }

    def _outward(self, name: str) -> str:
        """By the name that it is exported under."""
        first, dot, rest = name.partition(".")
        return f"{self._exported.get(first, first)}{dot}{rest}"

    def _uses(self, node: Node) -> set[str]:
        found = {_text(one) for one in walk(node, frozenset()) if one.type in _NAMES}
        found |= {f"HTTP_{_text(one)}" for one in walk(node, frozenset()) if _refuses(one)}
        for name in list(found):
            found |= self._aliases.get(name, set())
        return found

    def _statement(self, node: Node) -> None:
        match node.type:
            case "import_statement":
                self._import(node)
            case "export_statement":
                self._export(node)
            case "lexical_declaration" | "variable_declaration":
                for one in node.named_children:
                    self._variable(one)
            case "expression_statement" if node.named_children:
                self._assigned(node.named_children[0])
            case "enum_declaration" | "internal_module":
                self._names.append((_text(node.child_by_field_name("name")), node))
            case _ if node.type in _FUNCTIONS | _CLASSES:
                self._define(_text(node.child_by_field_name("name")), node)

    def _import(self, node: Node) -> None:
        source = _said(node.child_by_field_name("source"))
        clause = next((one for one in node.named_children if one.type == "import_clause"), None)
        for one in clause.named_children if clause is not None else ():
            if one.type == "identifier":
                self._alias(_text(one), {default_of(source)}, node)
            elif one.type == "namespace_import":
                self._alias(_text(one.named_children[0]), {default_of(source)}, node)
            for each in one.named_children if one.type == "named_imports" else ():
                name = _text(each.child_by_field_name("name"))
                alias = each.child_by_field_name("alias")
                meant = {default_of(source)} if name == "default" else {name}
                self._alias(_text(alias) if alias is not None else name, meant, node)

    def _alias(self, name: str, meant: set[str], node: Node) -> None:
        self._aliases.setdefault(name, set()).update(meant - {name})
        self._names.append((name, node))

    def _export(self, node: Node) -> None:
        default = any(one.type == "default" for one in node.children)
        inner = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        for clause in (one for one in node.named_children if one.type == "export_clause"):
            for one in clause.named_children:
                name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                self._exported[_text(name)] = _text(alias or name)
                if node.child_by_field_name("source") is not None:
                    self._names.append((_text(alias or name), node))
        if inner is None:
            return
        if default:
            self._default(inner)
            return
        before = len(self._defs)
        self._statement(inner)
        for first in (defined.partition(".")[0] for defined, _ in self._defs[before:]):
            self._exported.setdefault(first, first)

    def _default(self, node: Node) -> None:
        """What the module gives without a name is known by its own name, or by that of its file."""
        if node.type == "identifier":
            self._exported.setdefault(_text(node), _text(node))
            self._alias(default_of(self._path), {_text(node)}, node)
            return
        if node.type == "object":
            self._exports(node)
            return
        own = node.child_by_field_name("name")
        name = _text(own) if own is not None else _camel(default_of(self._path).removeprefix(_DEFAULT))
        self._define(name, _function_in(node) or node)
        self._exported.setdefault(name, name)
        self._names.append((default_of(self._path), node))

    def _exports(self, node: Node) -> None:
        """``module.exports = { a, b: c, d() {} }``."""
        for one in node.named_children:
            if one.type == "shorthand_property_identifier":
                self._exported[_text(one)] = _text(one)
            elif one.type == "method_definition":
                name = _text(one.child_by_field_name("name"))
                self._define(name, one)
                self._exported[name] = name
            elif one.type == "pair":
                name, value = _text(one.child_by_field_name("key")), one.child_by_field_name("value")
                if value is not None and value.type == "identifier":
                    self._exported[_text(value)] = name
                elif value is not None:
                    self._value(name, value, one)
                    self._exported[name] = name

    def _variable(self, node: Node) -> None:
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type != "variable_declarator" or target is None:
            return
        source = _required(value)
        for one in walk(target, frozenset()) if target.type != "identifier" else (target,):
            if one.type in ("identifier", "shorthand_property_identifier_pattern"):
                self._names.append((_text(one), node))
                if source and target.type == "identifier":
                    self._aliases.setdefault(_text(one), set()).add(default_of(source))
            elif one.type == "pair_pattern":
                bound, key = one.child_by_field_name("value"), one.child_by_field_name("key")
                if source and bound is not None and bound.type == "identifier":
                    self._aliases.setdefault(_text(bound), set()).add(_text(key))
        if target.type == "identifier" and value is not None:
            self._value(_text(target), value, node)

    def _value(self, name: str, value: Node, whole: Node) -> None:
        """A name and what it is made of: a function, one that is wrapped, an object with functions."""
        function = _function_in(value)
        if function is not None or value.type in _CLASSES:
            self._define(name, function or value, whole)
        elif value.type == "object":
            self._members(name, value)
            self._names.append((name, whole))

    def _assigned(self, node: Node) -> None:
        """``exports.a = ...``, ``module.exports = ...``, ``A.prototype.b = ...``."""
        left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type != "assignment_expression" or left is None or value is None:
            return
        place = _text(left).removeprefix("module.")
        if place == "exports":
            while value.type == "assignment_expression" and value.child_by_field_name("right") is not None:
                value = value.child_by_field_name("right") or value
            self._default(value)
        elif place.startswith("exports.") and place.count(".") == 1:
            name = place.removeprefix("exports.")
            if value.type == "identifier":
                self._exported[_text(value)] = name
                return
            self._value(name, value, node)
            self._names.append((name, node))
            self._exported[name] = name
        elif ".prototype." in place and (function := _function_in(value)) is not None:
            self._defs.append((place.replace(".prototype.", "."), function))

    def _define(self, name: str, node: Node, whole: Node | None = None) -> None:
        if not name:
            return
        self._defs.append((name, whole or node))
        if node.type in _CLASSES:
            self._class(name, node)
        else:
            members = len(self._defs)
            for given in _given_back(node):
                self._members(name, given, node)
            if len(self._defs) > members:
                self._defs.append((f"{name}.__init__", node))

    def _class(self, name: str, node: Node) -> None:
        body = node.child_by_field_name("body")
        for one in body.named_children if body is not None else ():
            key = one.child_by_field_name("name") or one.child_by_field_name("property")
            member = _text(key)
            if one.type == "method_definition":
                self._defs.append((f"{name}.{'__init__' if member == 'constructor' else member}", one))
            elif one.type in ("public_field_definition", "field_definition"):
                value = one.child_by_field_name("value")
                called = value is not None and _function_in(value) is not None
                self._defs.append((f"{name}.{member if called else '__init__'}", one))

    def _members(self, name: str, node: Node, within: Node | None = None) -> None:
        """Functions of an object; ``within``: of one that a function gives back, whose own it may name."""
        for one in node.named_children:
            if one.type == "method_definition":
                self._defs.append((f"{name}.{_text(one.child_by_field_name('name'))}", one))
            elif one.type == "pair":
                value = one.child_by_field_name("value")
                if value is not None and _function_in(value) is not None:
                    self._defs.append((f"{name}.{_text(one.child_by_field_name('key'))}", one))
            elif one.type == "shorthand_property_identifier" and within is not None:
                inner = next((each for each in _inside(within) if _own_name(each) == _text(one)), None)
                if inner is not None:
                    self._defs.append((f"{name}.{_text(one)}", inner))


def _given_back(function: Node) -> Iterator[Node]:
    """Objects that a function returns."""
    body = function.child_by_field_name("body")
    if body is None:
        return
    if body.type == "parenthesized_expression":
        body = body.named_children[0] if body.named_children else body
    if body.type == "object":
        yield body
    for one in body.named_children:
        if one.type == "return_statement" and one.named_children and one.named_children[0].type == "object":
            yield one.named_children[0]


def _inside(function: Node) -> Iterator[Node]:
    """Functions that stand directly in a function's body."""
    body = function.child_by_field_name("body")
    for one in body.named_children if body is not None else ():
        if one.type in _FUNCTIONS:
            yield one
        for each in one.named_children if one.type in ("lexical_declaration", "variable_declaration") else ():
            if (value := each.child_by_field_name("value")) is not None and _function_in(value) is not None:
                yield each


def _own_name(node: Node) -> str:
    return _text(node.child_by_field_name("name"))


def _function_in(node: Node) -> Node | None:
    """The function that a value is, also one that a call wraps: ``asyncHandler(async (req, res) => ...)``."""
    for _ in range(3):
        if node.type in _FUNCTIONS:
            return node
        if node.type in ("as_expression", "satisfies_expression", "parenthesized_expression"):
            node = node.named_children[0]
            continue
        arguments = node.child_by_field_name("arguments") if node.type == "call_expression" else None
        if arguments is None or not arguments.named_children:
            return None
        node = arguments.named_children[-1]
    return None


def _required(node: Node | None) -> str:
    """The address in ``require("...")``, also where a part of it is taken."""
    while node is not None and node.type in ("member_expression", "await_expression"):
        node = node.child_by_field_name("object") or next(iter(node.named_children), None)
    if node is None or node.type != "call_expression":
        return ""
    callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if _text(callee) not in ("require", "import") or arguments is None or not arguments.named_children:
        return ""
    return _said(arguments.named_children[0])


def _refuses(node: Node) -> bool:
    """``401`` and ``403`` in a text are statuses that refuse."""
    return node.type == "number" and _text(node) in ("401", "403")


def _camel(stem: str) -> str:
    first, *rest = stem.replace("_", "-").split("-")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _said(node: Node | None) -> str:
    return _text(node)[1:-1] if node is not None and node.type == "string" else ""


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def _span(node: Node) -> tuple[int, int]:
    return node.start_point[0] + 1, node.end_point[0] + 1
