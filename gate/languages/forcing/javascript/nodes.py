"""Kinds of nodes of JavaScript and TypeScript, and small questions about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.forcing.places import text_of

G: Final = "__gate__"
ENDS: Final = frozenset({"return", "break", "continue"})
"""What is dropped on the way to the place."""
NO_ENDS: Final[frozenset[str]] = frozenset()
FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function", "function"})
DECLARED: Final = frozenset({"function_declaration", "generator_function_declaration"})
CLASSES: Final = frozenset({"class_declaration", "abstract_class_declaration", "class"})
PATTERNS: Final = frozenset({"object_pattern", "array_pattern"})
TYPED: Final = frozenset({"as_expression", "satisfies_expression", "non_null_expression", "type_assertion"})
JSX: Final = frozenset({"jsx_element", "jsx_self_closing_element", "jsx_fragment"})
RAW: Final = frozenset({
    "this", "super", "import", "undefined", "true", "false", "null", "number", "string", "regex",
    "meta_property", "comment", "update_expression", "private_property_identifier",
})  # fmt: skip


def between(node: Node, start: int, end: int) -> str:
    """Text of a node, by bytes of the file."""
    raw = node.text or b""
    return raw[max(0, start - node.start_byte) : max(0, end - node.start_byte)].decode("utf-8", "replace")


def heading(node: Node, body: Node) -> str:
    """A class up to its body, decorators and ``abstract`` apart."""
    start = next((n.start_byte for n in node.children if n.type == "class"), node.start_byte)
    return between(node, start, body.start_byte)


def has(node: Node, kind: str) -> bool:
    """True where one stands in the node and in no function within it."""
    if node.type == kind:
        return True
    if node.type in FUNCTIONS or node.type in CLASSES or node.type == "method_definition":
        return False
    return any(has(child, kind) for child in node.named_children)


def inside_jsx(node: Node) -> Iterator[Node]:
    """The expressions of an element, from the outside in."""
    for child in node.named_children:
        if child.type == "jsx_expression":
            yield from (n for n in child.named_children if n.type != "comment")
        else:
            yield from inside_jsx(child)


def has_markup(root: Node) -> bool:
    """True where the text holds what only a compiler reads."""
    cursor = root.walk()
    while True:
        if cursor.node is not None and (cursor.node.type in JSX or cursor.node.type == "decorator"):
            return True
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False


def is_directive(node: Node) -> bool:
    """``"use strict"`` and its like, which must stay first."""
    return node.type == "expression_statement" and bool(
        node.named_children and node.named_children[0].type == "string"
    )


def is_end(node: Node) -> bool:
    """True where a branch ends what it stands in."""
    last = node
    if node.type == "statement_block":
        rows = [n for n in node.named_children if n.type != "comment"]
        if not rows:
            return False
        last = rows[-1]
    if last.type in ("return_statement", "throw_statement", "break_statement", "continue_statement"):
        return True
    return last.type == "expression_statement" and "process.exit" in text_of(last)
