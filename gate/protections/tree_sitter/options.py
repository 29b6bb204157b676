"""Options whose value decides, in languages that tree-sitter reads: fields, keys, setters, addresses.

Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.protections.facts import Strength
from gate.protections.options import left_out, option_of, option_strength, parameters_of, placed
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    inside,
    is_call,
    line_of,
    short_name,
    text_of,
)

_DEPTH: Final = 6
_MAPPINGS: Final = frozenset({"object", "hash", "literal_value", "array_creation_expression"})
_LISTS: Final = frozenset({
    "array", "array_creation_expression", "array_literal", "literal_value", "array_initializer",
    "initializer_expression",
})  # fmt: skip
_WORDS: Final = frozenset({
    "true", "false", "null", "nil", "none", "undefined", "boolean_literal", "boolean", "null_literal",
    "number", "integer", "int_literal", "integer_literal", "decimal_integer_literal",
})  # fmt: skip
_NAMED: Final = ("member_expression", "selector_expression", "field_access", "scope_resolution", "constant",
                 "class_constant_access_expression", "member_access_expression", "simple_symbol",
                 "qualified_name", "navigation_expression", "scoped_identifier", "name")  # fmt: skip
_FORMATS: Final = ("with", "format")
_SEALING: Final = ("seal", "open")
_DECIDING: Final = frozenset({"if_statement", "return_statement", "arrow_function", "ternary_expression"})
_AROUND: Final = frozenset({"parenthesized_expression", "unary_expression", "binary_expression"})


def options_of(node: Node, known: Mapping[str, Node]) -> Iterator[Strength]:
    """The options that one node sets. ``known``: names of the file that get one value."""
    pair = assigned(node)
    if pair is not None:
        yield from _named(_written(pair[0]), pair[1], node, known)
    elif is_call(node):
        yield from _called(node, known)
    if node.type in _MAPPINGS:
        yield from _mapping(node)
    elif node.type == "regex":
        yield from _format(node)
    elif "string" in node.type and "string" not in (node.parent.type if node.parent is not None else ""):
        yield from parameters_of(text_of(node), line_of(node))


def _named(name: str, value: Node, node: Node, known: Mapping[str, Node]) -> Iterator[Strength]:
    if name and option_of(name) is not None:
        made = option_strength(name, _values(value, known), text_of(node), line_of(node))
        if made is not None:
            yield made


def _written(node: Node) -> str:
    """A name as it stands: a text whole, of anything else the last name."""
    text = text_of(node)
    return text.strip("'\"`") if "string" in node.type else short_name(node)


def _mapping(node: Node) -> Iterator[Strength]:
    entries = [one for one in node.named_children if "comment" not in one.type]
    pairs = [assigned(one) for one in entries]
    names = [_written(pair[0]) for pair in pairs if pair is not None]
    names += [text_of(one) for one in entries if one.type == "shorthand_property_identifier"]
    if len(names) == len(entries):  # nothing is spread into it
        yield from left_out(names, line_of(node))


def _called(node: Node, known: Mapping[str, Node]) -> Iterator[Strength]:
    given = arguments(node)
    name = snake(short_name_of(callee(node)))
    place = placed(name)
    if place is not None:
        values = _values(given[place[0]], known) if len(given) > place[0] else ["false"]
        made = option_strength(place[1], values, text_of(node), line_of(node))
        if made is not None:
            yield made
    elif len(given) == 2 or (len(given) == 3 and name.endswith("setopt")):
        yield from _named(_written(given[-2]), given[-1], node, known)
    elif len(given) == 1:
        yield from _named(name.removeprefix("set_"), given[0], node, known)
        yield from _tested(node, name, known)
    elif len(given) == 4 and name in _SEALING:  # Go's AEAD
        made = option_strength("associated data", _values(given[3], known), text_of(node), line_of(node))
        if made is not None:
            yield made


def short_name_of(called: str) -> str:
    """The last name of what is called."""
    return called.replace("::", ".").replace("->", ".").rpartition(".")[2]


def _values(value: Node, known: Mapping[str, Node], depth: int = 0) -> list[str] | None:
    """The values that are written: one, or those of a list; None where nobody can say."""
    value = inside(value)
    if depth > _DEPTH:
        return None
    if value.type == "composite_literal":
        value = value.child_by_field_name("body") or value
    if value.type in _LISTS:
        many = [_entry(one) for one in value.named_children if "comment" not in one.type]
        found = [_values(one, known, depth + 1) for one in many]
        return None if None in found else [text for one in found if one is not None for text in one]
    text = text_of(value)
    if value.type in _WORDS:
        return [text]
    if "string" in value.type and "${" not in text and "#{" not in text:
        return [text.strip("'\"`")]
    name = short_name(value)
    if value.type == "identifier" and text in ("undefined", "nil", "true", "false", "null"):
        return [text]
    if name in known and known[name].id != value.id:
        return _values(known[name], known, depth + 1)
    return [name] if value.type in _NAMED and name[:1].isupper() else None


def _entry(node: Node) -> Node:
    """An entry of a list without what PHP puts around it."""
    alone = node.type == "array_element_initializer" and node.named_child_count == 1
    return inside(node.named_children[0] if alone else node)


def _format(node: Node) -> Iterator[Strength]:
    """Ruby's patterns: ``^`` and ``$`` are those of any line there, unlike those of the whole text."""
    above = node.parent
    pair = assigned(above) if above is not None else None
    name = short_name(pair[0]) if pair is not None else ""
    if name not in _FORMATS and not (name.isupper() and len(name) > 1):
        return
    text = text_of(node).removeprefix("%r").strip("/{}()[]!|mix ")
    value = "text" if text.startswith("\\A") and text.endswith(("\\z", "\\Z")) else ""
    value = value or ("lines" if text.startswith("^") or text.endswith("$") else "")
    made = option_strength("anchors of a pattern", [value] if value else None, text_of(node), line_of(node))
    if made is not None:
        yield made


def _tested(node: Node, name: str, known: Mapping[str, Node]) -> Iterator[Strength]:
    """``if (!/^[a-z]+$/.test(name)) throw``: is all of a text looked at, or only some part of it?"""
    called = node.child_by_field_name("function")
    of = called.child_by_field_name("object") if called is not None and name == "test" else None
    of = known.get(text_of(of), of) if of is not None else None
    if of is None or of.type != "regex" or not _decides(node):
        return
    pattern, flags = text_of(of.child_by_field_name("pattern")), text_of(of.child_by_field_name("flags"))
    whole = pattern.startswith("^") and pattern.endswith("$") and "m" not in flags
    made = option_strength("whole match", ["whole" if whole else "part"], text_of(of), line_of(of))
    if made is not None:
        yield made


def _decides(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type in _AROUND:
        above = above.parent
    return above is not None and above.type in _DECIDING
