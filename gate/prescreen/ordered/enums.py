"""Members of enums whose numbers nobody wrote: each is one more than the one before it.

Python's ``auto()``, Go's ``iota``, C#, Java, Kotlin, TypeScript, Rust, and lists of Rails' ``enum``. Runs in
the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from gate.languages.tree_sitter_parse import walk
from gate.protections.tree_sitter.shapes import arguments, callee, is_call, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_ENUMS: Final = frozenset({"enum_declaration", "enum_item"})
_MEMBERS: Final = frozenset({
    "enum_member_declaration", "enum_constant", "enum_entry", "enum_variant", "enum_assignment",
    "property_identifier",
})  # fmt: skip
_MOST: Final = 500


class Numbered(msgspec.Struct, frozen=True):
    """One enum. ``members``: name, number, whether nobody wrote it, and line. ``stored``: it says itself that
    its numbers are kept.
    """

    name: str
    members: list[tuple[str, int, bool, int]]
    stored: bool = False


def enums_in(root: Node) -> Iterator[Numbered]:
    """Every enum with at least two members that have numbers by themselves."""
    for node in walk(root, frozenset()):
        found: Numbered | None = None
        if node.type in _ENUMS or (node.type == "class_declaration" and _is_kotlin_enum(node)):
            found = _declared(node)
        elif node.type == "class_definition":
            found = _python(node)
        elif node.type == "const_declaration":
            found = _go(node)
        elif is_call(node) and callee(node) == "enum":
            found = _rails(node)
        if found is not None and sum(implicit for _, _, implicit, _ in found.members) >= 2:
            yield found


def _is_kotlin_enum(node: Node) -> bool:
    return any(child.type == "enum_class_body" for child in node.named_children)


def _declared(node: Node) -> Numbered | None:
    name = node.child_by_field_name("name") or next(iter(node.named_children), None)
    body = node.child_by_field_name("body") or next(
        (n for n in node.named_children if n.type == "enum_class_body"), None
    )
    if name is None or body is None:
        return None
    pairs = []
    for child in body.named_children[:_MOST]:
        if child.type not in _MEMBERS:
            continue
        named = child.child_by_field_name("name") or next(iter(child.named_children), child)
        value = (
            child.child_by_field_name("value") if child.type not in ("enum_constant", "enum_entry") else None
        )
        if child.type == "enum_variant" and child.child_by_field_name("body") is not None:
            value = None
        pairs.append(
            (text_of(named).strip("'\""), text_of(value) if value is not None else None, line_of(child))
        )
    return Numbered(text_of(name), _counted(pairs, 0))


def _counted(pairs: list[tuple[str, str | None, int]], first: int) -> list[tuple[str, int, bool, int]]:
    members: list[tuple[str, int, bool, int]] = []
    number = first
    for name, written, line in pairs:
        if written is not None:
            plain = written.replace("_", "")
            if not plain.lstrip("-").isdigit():
                return []  # texts, flags: written out
            number = int(plain)
        members.append((name, number, written is None, line))
        number += 1
    return members


def _python(node: Node) -> Numbered | None:
    bases = text_of(node.child_by_field_name("superclasses"))
    if not any(word in bases for word in ("Enum", "Flag")):
        return None
    body = node.child_by_field_name("body")
    pairs: list[tuple[str, str | None, int]] = []
    for statement in body.named_children if body is not None else ():
        for one in [statement, *statement.named_children][:2]:
            left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
            if one.type != "assignment" or left is None or right is None:
                continue
            if left.type in ("pattern_list", "tuple_pattern") and text_of(right).startswith("range("):
                return Numbered(
                    text_of(node.child_by_field_name("name")),
                    _counted([(text_of(n), None, line_of(n)) for n in left.named_children], 0),
                )
            implicit = text_of(right) in ("auto()", "enum.auto()")
            pairs.append((text_of(left), None if implicit else text_of(right), line_of(one)))
    return Numbered(text_of(node.child_by_field_name("name")), _counted(pairs, 1))


def _go(node: Node) -> Numbered | None:
    specs = [n for n in node.named_children if n.type == "const_spec"]
    first = next((n for n in specs if "iota" in text_of(n.child_by_field_name("value"))), None)
    if first is None:
        return None
    kind = text_of(first.child_by_field_name("type"))
    said = text_of(first.child_by_field_name("value"))
    if "<<" in said and "iota" not in said:
        return None
    members: list[tuple[str, int, bool, int]] = []
    for number, one in enumerate(specs[specs.index(first) :]):
        value = one.child_by_field_name("value")
        if value is not None and "iota" not in text_of(value):
            break
        members.append((text_of(one.child_by_field_name("name")), number, True, line_of(one)))
    return Numbered(kind or members[0][0], members)


def _rails(node: Node) -> Numbered | None:
    """``enum status: %i[open paid]``, ``enum :status, [:open, :paid]``: kept as numbers in the data base."""
    given = arguments(node)
    name, values = "", None
    for one in given:
        if one.type == "pair" and len(one.named_children) == 2:
            name, values = name or text_of(one.named_children[0]), values or one.named_children[1]
        elif one.type in ("array", "symbol_array", "string_array"):
            values = one
        elif one.type in ("simple_symbol", "string") and not name:
            name = text_of(one)
    if values is None or values.type not in ("array", "symbol_array", "string_array"):
        return None
    pairs = [(text_of(n).strip(":\"'"), None, line_of(n)) for n in values.named_children[:_MOST]]
    return Numbered(name.strip(":\"'"), _counted([*pairs], 0), stored=True)
