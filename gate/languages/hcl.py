"""HCL (Terraform, OpenTofu) as a syntax tree: its blocks, and their attributes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a grammar is needed where files are read, not where results are published
    from tree_sitter import Node, Parser


def parse(data: bytes) -> Node:
    """What the grammar can read of a text."""
    return _parser().parse(data).root_node


def blocks(node: Node) -> Iterator[tuple[list[str], Node]]:
    """The blocks right below a file or a block: the words before the brace, without their quotes."""
    for child in _members(node):
        if child.type == "block":
            words = [
                text_of(word) for word in child.named_children if word.type in ("identifier", "string_lit")
            ]
            yield words or ["?"], child


def attributes(node: Node) -> Iterator[tuple[str, Node]]:
    """Name and expression of the attributes right below a file or a block."""
    for child in _members(node):
        if child.type == "attribute" and child.named_child_count > 1:
            yield text_of(child.named_children[0]), child.named_children[1]


def text_of(node: Node) -> str:
    """A node's text, without quotes around it."""
    return (node.text or b"").decode("utf-8", "replace").strip('"')


def _members(node: Node) -> Iterator[Node]:
    for body in [node] if node.type == "body" else node.named_children:
        if body.type == "body":
            yield from body.named_children


@cache
def _parser() -> Parser:
    import tree_sitter_hcl
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_hcl.language()))
