"""A tree cut into its functions with names, in one walk: what a callback does belongs to who made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gate.protections.tree_sitter.shapes import text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION: Final = regex(
    r"(?:async_)?(?:function|method|arrow_function|lambda|func_literal|closure|constructor|singleton_method"
    r"|generator_function|local_function|anonymous_(?:function|method))\w*"
)
_ARROW: Final = regex(r"arrow_function|lambda\w*|func_literal|closure\w*")
_MOST_NODES: Final = 200_000


def name_of(function: Node) -> str:
    """A function's name, or that of what it is assigned to; empty for the file."""
    named = function.child_by_field_name("name")
    if named is None and _ARROW.fullmatch(function.type) is None:
        named = next((n for n in function.named_children if n.type == "simple_identifier"), None)
        named = named or next((n for n in function.children if n.type == "operator"), None)
    if named is None:
        above = function.parent
        if above is not None and above.type == "variable_declarator":
            named = above.child_by_field_name("name")
    return text_of(named) if function.parent is not None else ""


def by_function(root: Node) -> list[tuple[Node, list[Node]]]:
    """Each function that has a name, and the file, with the nodes in it and in no inner one."""
    found: dict[int, tuple[Node, list[Node]]] = {root.id: (root, [])}
    todo: list[tuple[Node, list[Node]]] = [(root, found[root.id][1])]
    count = 0
    while todo and count < _MOST_NODES:
        node, group = todo.pop()
        count += 1
        group.append(node)
        if _is_function(node) and node != root:
            group = found.setdefault(node.id, (node, []))[1]
        todo += [(child, group) for child in reversed(node.named_children)]
    return [*found.values()]


def _is_function(node: Node) -> bool:
    kind = node.type
    if kind.endswith(("_call_expression", "invocation", "_signature", "_type")) or not _FUNCTION.fullmatch(
        kind
    ):
        return False
    return bool(name_of(node))
