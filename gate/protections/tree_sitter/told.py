"""Calls of JavaScript whose arguments say what they still protect: limits, who asks, origins, codes.

Runs in the limited child.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import Strength
from gate.protections.origins import is_origins, origin_strength
from gate.protections.row_settings import row_strengths
from gate.protections.strengths import kept, random_strength
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    folded,
    is_call,
    line_of,
    short_name,
    text_of,
)
from gate.protections.vocabulary import is_identity, is_proof, is_verifier

_CUT: Final = 160
_WHO: Final = "who asks, as somebody has proven it"
_LIMITED: Final = "limit on the depth of queries"
_UNSKIPPED: Final = "a limit that no header switches off"
_SERVERS: Final = frozenset({"ApolloServer", "createYoga", "graphqlHTTP", "createHandler", "GraphQLServer"})
_RULES: Final = ("validationRules", "plugins")
_DEEP: Final = ("depth", "complexity", "costlimit", "costanalysis", "armor")
_HEADERS: Final = (
    "req.get(",
    "req.header(",
    "headers[",
    "headers.",
    "req.query",
    "headers.get(",
    "c.req.header(",
)
_LIMITS: Final = ("rate_limit", "slow_down", "limiter")


def told_of(node: Node, known: Mapping[str, Node]) -> Iterator[Strength]:
    """What one node says."""
    if is_call(node):
        yield from _called(node, known)
    elif "string" in node.type and node.parent is not None and "string" not in node.parent.type:
        yield from row_strengths(text_of(node).strip("'\"`"), line_of(node))
    pair = assigned(node)
    if pair is None:
        return
    name = short_name(pair[0])
    if is_origins(f"{name}_regex") and snake(name) in (
        "origin",
        "origins",
        "allowed_origins",
        "cors_origins",
    ):
        said = [n for n in walk(pair[1], frozenset()) if n.type == "regex_pattern"]
        if pair[1].type in ("regex", "array"):
            yield from origin_strength(name, [text_of(one) for one in said], line_of(node))


def _called(node: Node, known: Mapping[str, Node]) -> Iterator[Strength]:
    name = callee(node).rpartition(".")[2]
    given = arguments(node)
    if name == "randomInt" and given:
        ends = [folded(one, known) for one in given[:2]]
        if all(one is not None for one in ends):
            low, high = (0.0 if len(ends) == 1 else ends[0][0]), ends[-1][0]  # type: ignore[index]
            if high - low > 1:
                yield random_strength(math.log2(high - low), text_of(node)[:_CUT], line_of(node))
    elif name in _SERVERS and given and given[0].type == "object":
        yield from _server(name, node, given[0])
    elif any(word in snake(name) for word in _LIMITS) and given and given[0].type == "object":
        skip = _value(given[0], "skip")
        text = text_of(skip) if skip is not None else ""
        by_header = any(word in text for word in _HEADERS) and not is_verifier(text)
        yield kept(
            f"{_UNSKIPPED}: {_holder(node)}", not by_header, text or text_of(node)[:_CUT], line_of(node)
        )


def _server(name: str, node: Node, options: Node) -> Iterator[Strength]:
    """``new ApolloServer({validationRules: [depthLimit(6)]})``."""
    brought = [text_of(one) for one in options.named_children if assigned(one) is None]
    if any("chema" not in text and text not in ("typeDefs", "resolvers") for text in brought):
        return  # the rules may come from there
    rules = [value for key in _RULES if (value := _value(options, key)) is not None]
    if any(value.type != "array" for value in rules):
        return
    words = [
        text_of(n).lower() for value in rules for n in walk(value, frozenset()) if "identifier" in n.type
    ]
    spread = any(n.type == "spread_element" for value in rules for n in walk(value, frozenset()))
    holds = any(part in word for word in words for part in _DEEP)
    if holds or not spread:
        text = "; ".join(text_of(value) for value in rules) or "no rules"
        yield kept(f"{_LIMITED}: {_holder(node)}", holds, f"{name}: {text}", line_of(node))


def _value(options: Node, name: str) -> Node | None:
    pairs = (assigned(one) for one in options.named_children)
    return next((pair[1] for pair in pairs if pair is not None and short_name(pair[0]) == name), None)


def _holder(node: Node) -> str:
    above = node.parent
    pair = assigned(above) if above is not None else None
    return short_name(pair[0]) if pair is not None else ""


def who_asks(function: Node) -> Iterator[Strength]:
    """``req.user = userById(req.get("x-act-as"))``: whoever writes the header is whom it names."""
    claimed: Node | None = None
    proven: Node | None = None
    for node in walk(function, frozenset()):
        if node.type != "assignment_expression":
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if (
            left is None
            or right is None
            or left.type != "member_expression"
            or not is_identity(short_name(left))
        ):
            continue
        if _is_claimed(right):
            claimed = claimed or node
        else:
            proven = proven or node
    node_told = claimed or proven
    if node_told is not None:
        yield kept(_WHO, claimed is None, text_of(node_told)[:_CUT], line_of(node_told))


def _is_claimed(value: Node) -> bool:
    text = text_of(value)
    if not any(word in text for word in _HEADERS):
        return False
    calls = [callee(n).rpartition(".")[2] for n in walk(value, frozenset()) if is_call(n)]
    words = [text_of(n).strip("'\"`") for n in walk(value, frozenset()) if "string" in n.type]
    words += [text_of(n) for n in walk(value, frozenset()) if n.type == "property_identifier"]
    return not any(map(is_verifier, calls)) and not any(map(is_proof, words))
