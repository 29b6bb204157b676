"""Conditions of JavaScript and TypeScript in the normal form of conditions.py. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tree_sitter import Node

from gate.protections.conditions import Term, both, comparison, either
from gate.protections.tree_sitter.shapes import plain_operator, text_of
from gate.protections.vocabulary import family_of

_DEPTH: Final = 4
_KEPT: Final = 60
_WRAPPED: Final = frozenset({
    "parenthesized_expression", "await_expression", "non_null_expression", "as_expression",
    "satisfies_expression", "type_assertion", "spread_element",
})  # fmt: skip
_NAMES: Final = frozenset({
    "identifier", "property_identifier", "shorthand_property_identifier", "type_identifier",
})  # fmt: skip
_NAMED_BY: Final = {
    "member_expression": "property", "call_expression": "function", "new_expression": "constructor",
}  # fmt: skip
_NOTHING: Final = frozenset({"null", "undefined", "false"})
_USERS: Final = frozenset({"user", "currentUser", "userId", "currentUserId", "viewer", "session", "uid"})
_HOLDERS: Final = frozenset(
    {"req", "request", "ctx", "context", "session", "this", "locals", "state", "auth", "res"}
)
_IDS: Final = frozenset({"id", "_id", "uuid", "sub", "userId"})


def first_in(node: Node | None) -> Node | None:
    """The first named child, comments left out; None where there is none."""
    return next((one for one in node.named_children if one.type != "comment"), None) if node else None


def plain(node: Node) -> Node:
    """A node without parentheses, ``await`` and what TypeScript adds."""
    while node.type in _WRAPPED and node.named_child_count:
        inner = first_in(node)
        if inner is None:
            break
        node = inner
    return node


def last_name(node: Node | None) -> str:
    """``get`` of ``router.get``, of ``router.get(...)`` and of ``get``; empty where there is none."""
    at = plain(node) if node is not None else None
    while at is not None and at.type not in _NAMES:
        inner = at.child_by_field_name(_NAMED_BY[at.type]) if at.type in _NAMED_BY else None
        at = plain(inner) if inner is not None else None
    return text_of(at)


def is_user(node: Node | None) -> bool:
    """``req.user.id``, ``session.userId``, ``currentUser``: who asks."""
    if node is None:
        return False
    node = plain(node)
    if node.type == "identifier":
        return text_of(node) in _USERS
    if node.type != "member_expression":
        return False
    of, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("property"))
    if name in _IDS and is_user(of):
        return True
    return name in _USERS and last_name(of) in _HOLDERS


class Conditions:
    """Reads the conditions of one function. ``local`` holds what its constants are made from."""

    def __init__(self, local: Mapping[str, Node]) -> None:
        self._local = local

    def terms(self, test: Node, holds: bool = True, depth: int = 0) -> list[Term]:
        """The ways in which ``test`` is ``holds``; all atoms of one way hold together."""
        test = plain(test)
        if test.type == "unary_expression" and text_of(test.child_by_field_name("operator")) == "!":
            inner = test.child_by_field_name("argument")
            if inner is not None:
                return self.terms(inner, not holds, depth)
        if test.type == "binary_expression":
            word = text_of(test.child_by_field_name("operator"))
            left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
            if word in ("&&", "||", "??") and left is not None and right is not None:
                parts = [self.terms(left, holds, depth), self.terms(right, holds, depth)]
                return either(parts) if (word != "&&") is holds else both(parts)
            if left is not None and right is not None:
                return [frozenset({_compared(left, word, right, holds)})]
        if test.type == "call_expression" and last_name(test) == "Boolean":
            given = test.child_by_field_name("arguments")
            inner = first_in(given)
            if inner is not None:
                return self.terms(inner, holds, depth)
        name = text_of(test) if test.type == "identifier" else ""
        if name in self._local and depth < _DEPTH and family_of(name) in (None, "place"):
            return self.terms(self._local[name], holds, depth + 1)
        return [frozenset({self.atom(test, holds)})]

    def atom(self, test: Node, holds: bool) -> str:
        """One condition with its sign."""
        test = plain(test)
        if test.type in ("true", "false", "number"):
            return "+true" if (text_of(test) not in ("false", "0")) is holds else "+false"
        return ("+" if holds else "-") + shown(test)


def _compared(left: Node, word: str, right: Node, holds: bool) -> str:
    kind, holds = plain_operator("is a" if word == "instanceof" else word, holds)
    if kind == "==" and plain(right).type in _NOTHING:
        return ("-" if holds else "+") + shown(left)
    if kind == "==" and plain(right).type == "true":
        return ("+" if holds else "-") + shown(left)
    return comparison(shown(left), kind, shown(right), holds)


def shown(node: Node) -> str:
    """An expression without what a renaming changes: the last names, and constants."""
    node = plain(node)
    if is_user(node):
        return "user"
    match node.type:
        case "member_expression":
            name = text_of(node.child_by_field_name("property"))
            of = node.child_by_field_name("object")
            if name in ("id", "_id", "name", "length", "method", "value", "data", "get") and of is not None:
                return f"{shown(of)}.{name}"
            return name
        case "string" | "template_string":
            return repr(text_of(node)[1:-1])[:_KEPT]
        case "call_expression":
            name = last_name(node)
            if family_of(name) is None:
                return text_of(node)[:_KEPT]
            given = node.child_by_field_name("arguments")
            constants = [shown(n) for n in given.named_children if n.type == "string"] if given else []
            return f"{name}({', '.join(constants)})" if constants else name
    return text_of(node)[:_KEPT]
