"""What is good once, in JavaScript and TypeScript: a function that takes a token and ends it.

Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import Strength
from gate.protections.once import ENDED_BY, ONCE, ends, is_about, is_given, is_used
from gate.protections.strengths import kept
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    is_call,
    line_of,
    short_name,
    text_of,
)

_ROUNDS: Final = 2
_CUT: Final = 160


def once_strengths(name: str, function: Node, asked: Sequence[str], about: str) -> Iterator[Strength]:
    """Is what one function is given good once? ``asked``: its parameters; ``about``: words around it."""
    tokens = {one for one in asked if is_given(one)}
    short = name.rpartition(".")[2]
    if not tokens or not is_used(short) or not is_about(f"{about} {name} {' '.join(sorted(tokens))}"):
        return
    body = function.child_by_field_name("body")
    if body is None:
        return
    nodes = [*walk(body, frozenset())]
    for _ in range(_ROUNDS):
        for node in nodes:
            pair = assigned(node)
            if pair is not None and node.type != "pair" and _words(pair[1]) & tokens:
                tokens |= {text_of(n) for n in walk(pair[0], frozenset()) if "identifier" in n.type}
    tokens -= {"this", "db", "tx"}
    for node in nodes:
        if _is_end(node, tokens):
            yield kept(ONCE, True, text_of(node)[:_CUT], line_of(node))
            return
    if not any(_is_handed_on(node, tokens) for node in nodes):
        yield kept(ONCE, False, f"{name}({', '.join(asked)})", line_of(function))


def _words(node: Node) -> set[str]:
    return {text_of(n) for n in walk(node, frozenset()) if "identifier" in n.type}


def _is_end(node: Node, tokens: set[str]) -> bool:
    if node.type == "unary_expression" and text_of(node).startswith("delete "):
        return bool(_words(node) & tokens)
    if node.type == "assignment_expression":
        left = node.child_by_field_name("left")
        return left is not None and bool(_words(left) & tokens) and ends(short_name(left), ENDED_BY)
    if not is_call(node) or not _words(node) & tokens:
        return False
    if ends(short_name(node.child_by_field_name("function")) or callee(node).rpartition(".")[2]):
        return True
    given = " ".join(text_of(one) for one in arguments(node)).lower()
    keys = [short_name(p[0]) for n in walk(node, frozenset()) if (p := assigned(n)) is not None]
    return "delete from" in given or any(ends(key, ENDED_BY) for key in keys)


def _is_handed_on(node: Node, tokens: set[str]) -> bool:
    """Does a function of the same object get it, which may end it?"""
    return (
        is_call(node)
        and callee(node).startswith("this.")
        and callee(node).count(".") == 1
        and any(_words(one) & tokens for one in arguments(node))
    )
