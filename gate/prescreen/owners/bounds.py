"""Limits in conditions: what is compared with what, as sums of signed terms. Runs in the limited child.

``raise if cents > paid - refunded``: asked for is ``cents``, its limit is ``paid - refunded``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.prescreen.computed.read import ends_in_refusal, says_who, test_of
from gate.protections.tree_sitter.functions import function_around, name_of
from gate.protections.tree_sitter.shapes import inside, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_OVER: Final = frozenset({">", ">="})
_UNDER: Final = frozenset({"<", "<="})
_RETURNS: Final = regex(r"return(?:_statement|_expression)?|jump_expression")
_DEEPEST: Final = 8
_MOST_TERMS: Final = 12

Bound = tuple[list[str], list[str]]
"""Signed terms of what is asked for, and of its limit."""


def bounds(node: Node) -> Iterator[tuple[str, Bound, Node]]:
    """Of a refusal's test, or of the answer of a function that says who may: function, terms, place."""
    function = name_of(function_around(node))
    test = test_of(node)
    if test is not None:
        parts = [one for one in node.named_children if one.id != test.id]
        if ends_in_refusal(parts[:1]) or ends_in_refusal(parts[-1:]):
            yield from ((function, _bound(one, refused=True), one) for one in _comparisons(test))
    elif _RETURNS.fullmatch(node.type) and says_who(function) and node.named_children:
        yield from (
            (function, _bound(one, refused=False), one) for one in _comparisons(node.named_children[0])
        )


def _comparisons(node: Node, depth: int = 0) -> Iterator[Node]:
    if depth > _DEEPEST:
        return
    signs = {one.type for one in node.children if not one.is_named}
    if signs & (_OVER | _UNDER) and node.named_child_count == 2:
        yield node
    elif "parenthesized" in node.type or signs & {"and", "or", "&&", "||"} or "expression" in node.type:
        for one in node.named_children:
            yield from _comparisons(one, depth + 1)


def _bound(node: Node, *, refused: bool) -> Bound:
    left, right = node.named_children
    over = any(one.type in _OVER for one in node.children if not one.is_named)
    asked, limit = (left, right) if over == refused else (right, left)
    return sorted(_terms(asked, "+")), sorted(_terms(limit, "+"))


def _terms(node: Node, sign: str, depth: int = 0) -> Iterator[str]:
    node = inside(node)
    while "parenthesized" in node.type and node.named_child_count == 1:
        node = inside(node.named_children[0])
    signs = [one.type for one in node.children if not one.is_named]
    if depth < _DEEPEST and node.named_child_count == 2 and signs in (["+"], ["-"]):
        yield from _terms(node.named_children[0], sign, depth + 1)
        turned = {"+": "-", "-": "+"}[sign] if signs == ["-"] else sign
        yield from _terms(node.named_children[1], turned, depth + 1)
    else:
        yield sign + text_of(node).replace(" ", "")[:80]


def is_wider(old: Bound, new: Bound) -> str:
    """The term that makes the limit larger, or the demand smaller, where the rest stayed; else empty."""
    asked, limit = set(old[0]), set(old[1])
    now_asked, now_limit = set(new[0]), set(new[1])
    if max(map(len, (*old, *new))) > _MOST_TERMS or not (asked & now_asked and limit & now_limit):
        return ""
    if limit > now_limit and asked == now_asked:
        return next((one for one in sorted(limit - now_limit) if one[0] == "-"), "")
    if asked > now_asked and limit == now_limit:
        return next((one for one in sorted(asked - now_asked) if one[0] == "+"), "")
    return ""
