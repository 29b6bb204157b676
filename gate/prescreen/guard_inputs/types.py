"""Types that a file declares: fields, parameters, what is embedded, what is compared by all of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.prescreen.guard_inputs.facts import Declared
from gate.protections.tree_sitter.shapes import line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES: Final = regex(
    r"class(?:_declaration|_definition|_specifier)?|record_declaration|type_spec|struct_(?:item|declaration|specifier)|object_declaration"
    r"|interface_declaration|trait_declaration|enum_declaration|record_struct_declaration"
)
_FIELDS: Final = regex(
    r"field_declaration|formal_parameter|public_field_definition|property_signature|required_parameter|parameter"
    r"|optional_parameter|typed_parameter|property_declaration|simple_parameter|property_promotion_parameter"
    r"|class_parameter|variable_declaration|local_variable_declaration|var_spec|const_spec|parameter_declaration"
    r"|assignment|typed_default_parameter|variable_declarator"
)
_MODIFIERS: Final = regex(r"\b(?:data class|case class|@dataclass|@attr|NamedTuple|frozen|record)\b")
LEFT_OUT: Final = "compare=False"
"""Of a field of a data class that says nothing about which two are equal."""
_RECORDS: Final = ("record_declaration", "record_struct_declaration")


def _type_name(node: Node) -> str:
    named = node.child_by_field_name("name")
    named = named or next((n for n in node.named_children if "identifier" in n.type), None)
    return text_of(named)


def owner_of(node: Node) -> str:
    """The type that a member belongs to; Go's receivers say it themselves."""
    receiver = node.child_by_field_name("receiver")
    if receiver is not None and node.type == "method_declaration":
        words = re.findall(r"[A-Za-z_]\w*", text_of(receiver))
        return words[-1] if words else ""
    at = node.parent
    while at is not None:
        if _TYPES.fullmatch(at.type):
            return _type_name(at)
        at = at.parent
    return ""


def declared_in(root: Node) -> Iterator[Declared]:
    """Everything that has a name and a type, or a call that says its type."""
    for node in walk(root, frozenset()):
        if not node.is_named or not _FIELDS.fullmatch(node.type):
            continue
        kind = node.child_by_field_name("type")
        if kind is None:
            kind = next((n for n in node.named_children if n.type in ("user_type", "nullable_type")), None)
        if kind is None and node.type == "variable_declarator":
            made = node.child_by_field_name("value")
            kind = made if made is not None and made.type == "new_expression" else None
        if kind is None and node.type == "assignment" and (right := node.child_by_field_name("right")):
            kind = right if right.type == "call" and right.end_byte - right.start_byte < 100 else None
        if kind is None:
            continue
        for name in _names(node, kind):
            said = text_of(kind).lstrip(": ")[:120]
            said += f" {LEFT_OUT}" if LEFT_OUT in text_of(node)[:200] else ""
            yield Declared(owner_of(node), name.lstrip("$"), said, line_of(node))


def _names(node: Node, kind: Node) -> list[str]:
    many = [n for n in node.children_by_field_name("name") if n is not None]
    fields = ("pattern", "left", "declarator")
    many = many or [n for f in fields if (n := node.child_by_field_name(f)) is not None]
    texts = [text_of(n) for n in many]
    if not texts:
        texts = [text_of(n) for n in node.named_children if n != kind and "modifier" not in n.type][:1]
    return [found[0] for text in texts if (found := re.findall(r"\$?[A-Za-z_]\w*", text))]


def embeds_in(root: Node) -> Iterator[tuple[str, str]]:
    """Go's embedded types, and the types that classes extend."""
    for node in walk(root, frozenset()):
        if node.type == "field_declaration" and node.child_by_field_name("name") is None:
            words = re.findall(r"[A-Za-z_]\w*", text_of(node.child_by_field_name("type")))
            if words and (owner := owner_of(node)):
                yield owner, words[-1]
        elif _TYPES.fullmatch(node.type):
            for field in ("superclass", "superclasses", "bases", "base_clause"):
                above = node.child_by_field_name(field)
                for word in re.findall(r"[A-Za-z_]\w*", text_of(above)) if above is not None else ():
                    if word[:1].isupper():
                        yield _type_name(node), word
            for one in node.named_children:
                if one.type in ("class_heritage", "base_list", "delegation_specifier", "base_clause"):
                    for word in re.findall(r"\b[A-Z]\w*", text_of(one)):
                        yield _type_name(node), word


def structural_in(root: Node) -> Iterator[str]:
    """Types whose values are equal when all of their fields are, without anybody writing that down."""
    for node in walk(root, frozenset()):
        if node.type in _RECORDS:
            yield _type_name(node)
        elif _TYPES.fullmatch(node.type):
            start = text_of(node)[:200].partition("{")[0]
            above = node.parent
            if above is not None and above.type == "decorated_definition":
                start = text_of(above)[:300].partition("class ")[0] + start
            if _MODIFIERS.search(start):
                yield _type_name(node)
