"""Functions of any grammar: which one a node stands in, and what it is called. Runs in the limited child."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gate.protections.tree_sitter.shapes import text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION: Final = regex(
    r"function_(?:declaration|definition|item|expression)|arrow_function|method(?:_declaration|_definition)?"
    r"|singleton_method|func_literal|constructor_declaration|local_function_statement|lambda|generator_function\w*"
)
AFTERWARDS: Final = frozenset({"defer_statement", "finally_clause", "ensure", "finally_block"})
"""What runs when the work around it ends, however it ends."""


def function_around(node: Node) -> Node:
    """The function that a node stands in, or the file."""
    at = node
    while at.parent is not None:
        at = at.parent
        if at.type != "method_invocation" and _FUNCTION.fullmatch(at.type):
            return at
    return at


def name_of(function: Node) -> str:
    """A function's name, or that which it is given; empty for the file."""
    named = function.child_by_field_name("name")
    if named is None and function.parent is not None and function.parent.type == "variable_declarator":
        named = function.parent.child_by_field_name("name")
    return text_of(named)
