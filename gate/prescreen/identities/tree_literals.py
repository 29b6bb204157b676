"""Values of programs with a tree-sitter grammar: JavaScript, Go, Terraform, pages, shell and more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse
from gate.prescreen.identities.written import UNNAMED, Written
from gate.protections.tree_sitter.shapes import assigned

if TYPE_CHECKING:
    from tree_sitter import Node

_TEXTS: Final = frozenset({
    "string", "string_literal", "interpreted_string_literal", "raw_string_literal", "template_string",
    "encapsed_string", "raw_string", "word", "string_lit", "quoted_template", "template_expr", "heredoc_body",
    "verbatim_string_literal",
})  # fmt: skip
_FILLED: Final = ("substitution", "interpolation", "expansion")
_GIVEN: Final = frozenset({
    "arguments", "argument_list", "function_arguments", "value_arguments", "token_tree", "subscript",
})  # fmt: skip
_NAMES: Final = frozenset({"function_declaration", "method_definition", "class_declaration", "function_item"})
_MOST: Final = 200_000
_DEEPEST: Final = 12
"""Texts that one is put together from, one after another."""


def written(path: str, data: bytes) -> Iterator[Written]:
    """Every text, with the names that lead to it."""
    root = parse(data, grammar_of(path))
    waiting: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    count = 0
    while waiting and count < _MOST:
        node, names = waiting.pop()
        count += 1
        value = _text(node)
        if value is not None:
            yield Written(names, value, node.start_point[0] + 1)
        elif node.type in ("start_tag", "self_closing_tag"):
            yield from _tag(node, names)
        elif node.type in ("subscript_expression", "index_expression"):
            waiting.append((node.named_children[0], names))
        elif "comment" not in node.type:
            waiting += [*_below(node, names)][::-1]


def _below(node: Node, names: tuple[str, ...]) -> Iterator[tuple[Node, tuple[str, ...]]]:
    if node.type in ("attribute", "jsx_attribute") and node.named_child_count > 1:
        yield node.named_children[-1], (*names, _bare(node.named_children[0]))
        return
    if node.type == "block":
        labels = [_bare(n) for n in node.named_children if n.type in ("identifier", "string_lit")]
        for child in node.named_children:
            if child.type not in ("identifier", "string_lit"):
                yield child, (*names, *labels)
        return
    if node.type in _GIVEN:
        for child in node.named_children:
            yield child, (*names, UNNAMED)
        return
    pair = assigned(node) if node.type != "object_elem" else _element(node)
    if pair is not None:
        name = _bare(pair[0]).rpartition(".")[2]
        yield pair[1], (*names, name) if len(name) <= 100 else names
        return
    named = node.child_by_field_name("name") if node.type in _NAMES else None
    below = (*names, _bare(named)) if named is not None else names
    for child in node.named_children:
        yield child, below


def _element(node: Node) -> tuple[Node, Node] | None:
    key, value = node.child_by_field_name("key"), node.child_by_field_name("val")
    return (key, value) if key is not None and value is not None else None


def _text(node: Node, depth: int = _DEEPEST) -> str | None:
    """The text of a literal, or of several that are put together; nothing where something is filled in."""
    if depth == 0:
        return None
    if node.type in _TEXTS:
        is_filled = any(word in child.type for child in node.named_children for word in _FILLED)
        return None if is_filled else _bare(node)
    if node.type == "binary_expression" and any(child.type == "+" for child in node.children):
        parts = [_text(child, depth - 1) for child in node.named_children[:2]]
        return f"{parts[0]}{parts[1]}" if None not in parts else None
    if node.type == "call_expression" and (callee := node.child_by_field_name("function")) is not None:
        of, name = callee.child_by_field_name("object"), callee.child_by_field_name("property")
        if of is not None and of.type == "array" and name is not None and name.text == b"join":
            items = [_text(child, depth - 1) for child in of.named_children[:64]]
            return "".join(item or "" for item in items) if items and None not in items else None
    return None


def _tag(node: Node, names: tuple[str, ...]) -> Iterator[Written]:
    """A field of a form by its name; every other attribute by its own."""
    given: dict[str, tuple[str, int]] = {}
    for one in node.named_children:
        if one.type == "attribute" and one.named_child_count > 1:
            given[_bare(one.named_children[0])] = (_bare(one.named_children[-1]), one.start_point[0] + 1)
    field, _ = given.get("name", given.get("property", ("", 0)))
    for key, (value, line) in given.items():
        if key in ("value", "content") and field:
            yield Written((*names, field), value, line)
        elif key not in ("class", "style", "d", "id", "name", "property"):
            yield Written((*names, key), value, line)


def _bare(node: Node) -> str:
    text = (node.text or b"").decode("utf-8", "replace")
    return text.strip("\"'`") if len(text) < 9_000 else ""
