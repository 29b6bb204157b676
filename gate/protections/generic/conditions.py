"""Conditions of Go, Java, Kotlin, C#, Ruby, PHP and Rust in the normal form of conditions.py.

Runs in the limited child.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.protections.conditions import Term, both, comparison, either
from gate.protections.tree_sitter.shapes import (
    arguments,
    callee,
    inside,
    is_call,
    plain_operator,
    short_name,
    text_of,
)
from gate.protections.vocabulary import family_of

_KEPT: Final = 60
_NOTHING: Final = frozenset({"nil", "null", "None", "false", "NULL", "FALSE", "False"})
_TRUE: Final = frozenset({"true", "TRUE", "True"})
_USERS: Final = frozenset(
    {"user", "current_user", "user_id", "current_user_id", "principal", "viewer", "uid"}
)
_IDS: Final = frozenset({"id", "name", "length", "size", "get", "value", "text", "method", "data"})
_BINARY: Final = ("binary", "conjunction", "disjunction", "comparison_expression", "equality")


def terms(test: Node, holds: bool = True) -> list[Term]:
    """The ways in which ``test`` is ``holds``; all atoms of one way hold together."""
    test = inside(test)
    word = operator_of(test)
    if "unary" in test.type or test.type == "prefix_expression":
        inner = next((n for n in reversed(test.named_children)), None)
        if word in ("!", "not") and inner is not None:
            return terms(inner, not holds)
    if test.type.startswith(_BINARY) and test.named_child_count >= 2:
        left, right = test.named_children[0], test.named_children[-1]
        if word in ("&&", "||", "and", "or"):
            parts = [terms(left, holds), terms(right, holds)]
            return either(parts) if (word in ("||", "or")) is holds else both(parts)
        return [frozenset({_compared(left, word, right, holds)})]
    return [frozenset({atom(test, holds is not _is_negated(test))})]


def _is_negated(test: Node) -> bool:
    """Kotlin's grammar reads ``!user.isAdmin`` as ``(!user).isAdmin``."""
    first = test
    while first.type in ("navigation_expression", "call_expression") and first.named_children:
        first = first.named_children[0]
    return first is not test and first.type == "unary_expression" and operator_of(first) == "!"


def atom(test: Node, holds: bool) -> str:
    """One condition with its sign."""
    text = text_of(test)
    if text in _TRUE or text in ("false", "False", "FALSE"):
        return "+true" if (text in _TRUE) is holds else "+false"
    return ("+" if holds else "-") + shown(test)


def operator_of(node: Node) -> str:
    """The operator of a unary or binary expression."""
    named = node.child_by_field_name("operator")
    return (
        text_of(named)
        if named is not None
        else next((text_of(n) for n in node.children if not n.is_named), "")
    )


def _compared(left: Node, word: str, right: Node, holds: bool) -> str:
    kind, holds = plain_operator(word, holds)
    value = text_of(inside(right))
    if kind == "==" and value in _NOTHING:
        return ("-" if holds else "+") + shown(left)
    if kind == "==" and value in _TRUE:
        return ("+" if holds else "-") + shown(left)
    return comparison(shown(left), kind, shown(right), holds)


def shown(node: Node) -> str:
    """An expression without what a renaming changes: the last names, and constants."""
    node = inside(node)
    text = text_of(node)
    if is_call(node):
        name = callee(node)
        last = short_name_of(name)
        if is_user(name):
            return "user"
        given = arguments(node)
        if family_of(last) is None and (given or last in _IDS):
            return text[:_KEPT]
        constants = [
            text_of(one)[:_KEPT] for one in given if one.type.startswith(("string", "simple_symbol"))
        ]
        return f"{last}({', '.join(constants)})" if constants else last
    if any(mark in text for mark in (".", "->", "::")) and " " not in text and "string" not in node.type:
        if is_user(text):
            return "user"
        last = short_name(node)
        return text[:_KEPT] if last.lower() in _IDS else last
    return "user" if is_user(text) else text[:_KEPT]


def short_name_of(dotted: str) -> str:
    """The last part of a dotted name."""
    for mark in ("::", "->", "?.", "&."):
        dotted = dotted.replace(mark, ".")
    return dotted.rpartition(".")[2].strip("@$!?:")


def is_user(text: str) -> bool:
    """``currentUser``, ``c.User.ID``, ``current_user.id``: who asks."""
    parts = [snake(part.strip("@$!?:()")) for part in text.replace("->", ".").replace("::", ".").split(".")]
    while len(parts) > 1 and parts[-1] in ("id", "uuid", "get_id"):
        parts.pop()
    return parts[-1] in _USERS
