"""The sensitive calls of a JavaScript or TypeScript text by what its names stand for.

Beside the matching of names as they are written (gate/languages/sensitive_calls/matching.py): that sees what
no tree shows, this sees what no name shows, and takes back what a name of the text's own only looks like.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.sensitive_calls import matching
from gate.languages.sensitive_calls.grammar import Parsed
from gate.languages.sensitive_calls.javascript_scopes import MADE, Path
from gate.languages.sensitive_calls.javascript_values import (
    CALLS,
    LOADERS,
    THROUGH,
    JavaScriptValues,
    arguments,
)
from gate.languages.sensitive_calls.markup_sources import goes_elsewhere, is_abroad, loads_from_abroad
from gate.languages.sensitive_calls.matching import Hit
from gate.languages.sensitive_calls.names import module_parts
from gate.languages.sensitive_calls.steering import steered
from gate.languages.sensitive_calls.table import CallEntry, Language
from gate.model.sensitive import SensitiveKind, Way

LANGUAGES: Final = frozenset({"javascript", "typescript"})
_NAMES: Final = frozenset(
    {"identifier", "shorthand_property_identifier", "member_expression", "subscript_expression"}
)
_PATTERNS: Final = frozenset(
    {
        "formal_parameters",
        "required_parameter",
        "optional_parameter",
        "rest_pattern",
        "array_pattern",
        "object_pattern",
        "import_clause",
        "import_specifier",
        "namespace_import",
        "import_require_clause",
        "catch_clause",
    }
)
"""Parents of names that are declared, not used."""
_DECLARED: Final = {
    "variable_declarator": "name",
    "pair_pattern": "value",
    "assignment_pattern": "left",
    "object_assignment_pattern": "left",
    "assignment_expression": "left",
    "for_in_statement": "left",
    "arrow_function": "parameter",
    "class_declaration": "name",
    "function_declaration": "name",
    "function_expression": "name",
    "generator_function_declaration": "name",
}
_HANDED: Final = frozenset({"arguments", "array", "pair", "spread_element", "object", "return_statement"})
_BY_OTHERS: Final = frozenset({"call", "apply", "bind"})
_SETTERS: Final = frozenset({"setAttribute", "setAttributeNS"})
_ASKING: Final = frozenset(
    {
        *("any", "instanceOf", "toBeInstanceOf", "isInstance", "isPrototypeOf", "expect", "mocked", "toBe"),
        *("toEqual", "equal", "strictEqual", "is", "defineProperty", "isFunction", "spyOn", "assert", "ok"),
    }
)
"""Functions that ask what a value is, or give it a member, and do not call it."""
_MOST_WRITTEN: Final = 80


def javascript_hits(
    parsed: Parsed, language: Language, written: list[Hit], *, shipped: bool = True
) -> Iterator[Hit]:
    """``written``, the hits by the words alone, without those that the tree refutes, and what it adds.
    ``shipped``: no test, no sample.
    """
    reader = _Reader(parsed, language, shipped=shipped)
    kept = [hit for hit in written if not reader.refutes(hit)]
    yield from kept
    told = {(hit.start, hit.kind) for hit in kept}
    for hit in reader.hits():
        if (hit.start, hit.kind) not in told:
            told.add((hit.start, hit.kind))
            yield hit


class _Reader:
    def __init__(self, parsed: Parsed, language: Language, *, shipped: bool) -> None:
        self._parsed = parsed
        self._shipped = shipped
        self._language = language
        self._values = JavaScriptValues(parsed.root, parsed.text)
        self._sure = not parsed.root.has_error
        self._objects = {
            tuple(module_parts(name)): entry.kind for entry in language.entries for name in entry.objects
        }
        self._sets = {name: entry for entry in language.entries for name in entry.sets}

    def refutes(self, hit: Hit) -> bool:
        """True where the name is one of the text's own: a function, a parameter, a part of an object."""
        if not self._sure or self._parsed.text[hit.start : hit.start + 1] in b"\"'`":
            return False
        leaf = self._parsed.root.descendant_for_byte_range(hit.start, hit.start + 1)
        if leaf is None:
            return False
        if leaf.type == "shorthand_property_identifier_pattern":
            return hit.kind is SensitiveKind.ENVIRONMENT and not _rest(leaf.parent)
        if leaf.type != "identifier":
            return False
        binding = self._values.scopes.binding(leaf)
        parts = tuple(hit.call.split("."))
        if binding is None or leaf.start_byte != hit.start:
            return False
        values = self._values.bound(binding)
        if len(parts) == 1:
            bare = matching.of_path(self._language, parts, called=True) is not None
            return bare and not any(self._can(path) for path in values)
        known = any(path[0] not in ("?", "#own", "#function") for path in values)
        everyday = matching.of_path(self._language, parts, called=True, everyday=False) is None
        return binding.kind in ("parameter", "function") and not known and everyday

    def _can(self, path: Path) -> bool:
        return matching.of_path(self._language, path, called=True, given=b"") is not None

    def hits(self) -> Iterator[Hit]:
        """What the values show, in text order."""
        for node in self._values.scopes.nodes:
            kind = node.type
            if kind in _NAMES:
                yield from self._named(node)
            elif kind in CALLS:
                yield from self._loads(node)
                yield from self._whole_modules(node)
                yield from self._sets_attribute(node)
            elif kind == "assignment_expression":
                yield from self._assigns(node)
            elif kind == "jsx_attribute" and self._shipped and loads_from_abroad(node, self._values):
                yield self._hit(node, SensitiveKind.NETWORK, "read")
            elif kind == "export_statement":
                yield from self._exports(node)

    def _named(self, node: Node) -> Iterator[Hit]:
        """A name, or a member, that is used."""
        outer = _outer(node)
        parent = outer.parent
        if parent is None or parent.type in _PATTERNS or _is(outer, parent, _DECLARED.get(parent.type, "")):
            return
        call = parent if parent.type in CALLS and not _is_argument(outer, parent) else None
        handed = parent.type in _HANDED or parent.type == "arrow_function"
        if parent.type == "arguments" and self._only_asks(parent.parent):
            return
        if parent.type == "pair" and not _is(outer, parent, "value"):
            return
        for given in self._values.of(node):
            path = given
            if path[-1].endswith("()"):  # what a call gave: it counts where that is called again
                if call is None:
                    continue
                path = (*path[:-1], path[-1].removesuffix("()"))
            kind = self._kind(path, node, outer, call, handed=handed)
            if kind is not None:
                yield self._hit(node, kind)

    def _kind(
        self, path: Path, node: Node, outer: Node, call: Node | None, *, handed: bool
    ) -> SensitiveKind | None:
        by_another = len(path) > 1 and path[-1] in _BY_OTHERS and node.type == "member_expression"
        if by_another:
            path = path[:-1]
        used = call is not None or handed or by_another
        given = self._given(call) if call is not None else b""
        found = matching.of_path(self._language, path, called=used, given=given)
        if found is not None and outer.parent is not None and outer.parent.type != "unary_expression":
            return found
        if path[-1] == MADE and node.type == "subscript_expression":
            if path == (MADE,):
                return SensitiveKind.DYNAMIC_CODE if call is not None else None
            return self._objects.get(path[:-1])
        if path == (MADE,):
            return SensitiveKind.DYNAMIC_CODE if call is not None else None
        if path == ("process", "env") and self._is_whole(node, outer):
            return SensitiveKind.ENVIRONMENT
        if call is not None and path[-1:] == ("constructor",) and call.type == "call_expression":
            whole = node.child_by_field_name("object")
            own = whole is not None and whole.type in ("this", "super", "identifier")
            return None if own and not _texts(call) else SensitiveKind.DYNAMIC_CODE
        return self._objects.get(path) if self._escapes(outer) else None

    def _only_asks(self, call: Node | None) -> bool:
        """True for a call that only compares or describes what it is given."""
        function = call.child_by_field_name("function") if call is not None else None
        return function is not None and self._said(function).rpartition(".")[2] in _ASKING

    def _is_whole(self, node: Node, outer: Node) -> bool:
        """True where all of an alias of the environment is used, not one member of it."""
        if node.type not in ("identifier", "shorthand_property_identifier") or outer.parent is None:
            return False
        return outer.parent.type in _HANDED | {
            "spread_element",
            "for_in_statement",
            "member_expression",
        } and (outer.parent.type != "member_expression" or not _is(outer, outer.parent, "object"))

    def _escapes(self, outer: Node) -> bool:
        """True where a module as a whole is handed to somebody who is not read here, or walked through."""
        parent = outer.parent
        if parent is None:
            return False
        if parent.type == "arguments":
            call = parent.parent
            return call is not None and call.type in CALLS and not self._values.is_linked(call)
        if parent.type in ("for_in_statement", "with_statement", "export_statement"):
            return True
        if parent.type == "assignment_expression" and _is(outer, parent, "right"):
            left = parent.child_by_field_name("left")
            return left is not None and left.type == "member_expression" and "exports" in self._said(left)
        return parent.type in ("spread_element", "return_statement") or outer.type == "spread_element"

    def _whole_modules(self, node: Node) -> Iterator[Hit]:
        """A module that is loaded in the place where it is handed on."""
        outer = _outer(node)
        kinds = {self._objects[path] for path in self._values.of(node) if path in self._objects}
        if kinds and self._escapes(outer):
            yield from (self._hit(node, kind) for kind in sorted(kinds, key=lambda kind: kind.value))

    def _loads(self, node: Node) -> Iterator[Hit]:
        """``require`` under any name of what is not known, or of native code."""
        function = node.child_by_field_name("function")
        given = arguments(node)
        if function is None or not given:
            return
        named = {("import",)} if function.type == "import" else self._values.of(function)
        if not any(path in LOADERS or path[-1] == "createRequire()" for path in named):
            return
        module = self._values.constant(given[0])
        if module is not None and module.endswith(".node"):
            yield self._hit(node, SensitiveKind.NATIVE_CODE)
        elif (module is None and function.type not in ("import", "identifier")) or (
            module is None and function.type == "identifier" and self._said(function) != "require"
        ):
            yield self._hit(node, SensitiveKind.DYNAMIC_CODE)

    def _assigns(self, node: Node) -> Iterator[Hit]:
        """Members that act by being set: the address of a picture, of a script."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type not in ("member_expression", "subscript_expression"):
            return
        for path in self._values.of(left):
            entry = self._sets.get(".".join(path[-2:]))
            if entry is not None and not self._is_inside(right):
                yield self._hit(node, entry.kind)
            kind = steered(path[-1]) if path[:-1] == ("process", "env") and self._shipped else None
            if kind is not None:
                yield self._hit(node, kind, "read")
        said = self._said(left).rpartition("(")[2].split(".")
        if self._shipped and goes_elsewhere(said) and is_abroad(right, self._values):
            yield self._hit(node, SensitiveKind.NETWORK, "read")

    def _sets_attribute(self, node: Node) -> Iterator[Hit]:
        function, given = node.child_by_field_name("function"), arguments(node)
        if function is None or function.type != "member_expression" or len(given) < 2:
            return
        for path in self._values.of(function) if path_ends(self._said(function)) else ():
            name = self._values.constant(given[-2])
            entry: CallEntry | None = self._sets.get(".".join((*path[-2:-1], name or MADE)))
            if path[-1] in _SETTERS and entry is not None and not self._is_inside(given[-1]):
                yield self._hit(node, entry.kind)

    def _is_inside(self, node: Node) -> bool:
        """True for a text that names a place of the site itself."""
        said = self._values.constant(node)
        return said is not None and "//" not in said and ":" not in said

    def _exports(self, node: Node) -> Iterator[Hit]:
        source = node.child_by_field_name("source")
        if source is None:
            return
        module = module_parts(self._said(source))
        taken = [one for child in node.named_children for one in child.named_children]
        names = [one.child_by_field_name("name") for one in taken if one.type == "export_specifier"]
        if not names:
            kind = self._objects.get(module)
        else:
            paths = [(*module, self._said(name)) for name in names if name is not None]
            found = (matching.of_path(self._language, path, called=True) for path in paths)
            kind = next((one for one in found if one is not None), None)
        if kind is not None:
            yield self._hit(node, kind)

    def _given(self, call: Node) -> bytes:
        listed = call.child_by_field_name("arguments")
        return self._parsed.text[listed.start_byte : listed.end_byte] if listed is not None else b""

    def _said(self, node: Node) -> str:
        return self._values.scopes.said(node)

    def _hit(self, node: Node, kind: SensitiveKind, way: Way = "call") -> Hit:
        said = " ".join(self._said(node).split())[:_MOST_WRITTEN]
        return Hit(start=node.start_byte, end=node.end_byte, kind=kind, call=said, way=way)


def path_ends(said: str) -> bool:
    """True where a callee as written is one of the setters."""
    return said.rpartition(".")[2] in _SETTERS


def _outer(node: Node) -> Node:
    """The expression that has the same value."""
    while node.parent is not None and node.parent.type in THROUGH | {"sequence_expression"}:
        parent = node.parent
        if parent.type == "sequence_expression" and parent.named_children[-1] != node:
            return node
        node = parent
    return node


def _is(node: Node, parent: Node, name: str) -> bool:
    return bool(name) and parent.child_by_field_name(name) == node


def _is_argument(node: Node, call: Node) -> bool:
    return call.child_by_field_name("arguments") == node


def _rest(pattern: Node | None) -> bool:
    return pattern is not None and any(child.type == "rest_pattern" for child in pattern.named_children)


def _texts(call: Node) -> bool:
    return any(one.type in ("string", "template_string", "binary_expression") for one in arguments(call))
