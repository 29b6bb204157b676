"""Calls and comparisons of a file that tree-sitter reads, for what is compared over the whole change.

Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.overall.owned import is_looking
from gate.protections.overall.rules import KNOWN
from gate.protections.overall.said import ADDING, Compared, Said, Script, Spoken, plain
from gate.protections.tree_sitter.makers import file_words
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, line_of, text_of

_CUT: Final = 400
_MOST: Final = 4_000
_OBJECTS: Final = frozenset({"object", "hash"})
_SIGNS: Final = {"===": "==", "!==": "!=", "<>": "!="}


def tree_sitter_script(root: Node, functions: frozenset[str]) -> Script:
    """The calls of each outermost function (a node of one of the types), and those outside of all."""
    names: dict[int, str] = {0: ""}
    calls: dict[int, list[Said]] = {0: []}
    called_in: dict[int, set[str]] = {}
    todo = [(root, 0)]
    while todo:
        node, at = todo.pop()
        if not at and node.type in functions:
            at = node.id
            names[at] = text_of(node.child_by_field_name("name"))
        if is_call(node):
            called = plain(callee(node))
            called_in.setdefault(at, set()).add(called)
            if called in KNOWN or called in ADDING or is_looking(called):
                calls.setdefault(at, []).append(_said(node, called))
        todo += [(child, at) for child in reversed(node.named_children)]
    spoken = (
        Spoken(name=names[at], calls=tuple(many[:_MOST]), names=frozenset(called_in.get(at, ())))
        for at, many in calls.items()
    )
    return Script(functions=tuple(spoken), words=file_words(root), text=text_of(root))


def _said(node: Node, name: str) -> Said:
    called = callee(node)
    owner = called
    for mark in ("::", "->", "?.", "&."):
        owner = owner.replace(mark, ".")
    given: list[str] = []
    keywords: dict[str, str] = {}
    for one in arguments(node):
        pairs = [assigned(n) for n in one.named_children] if one.type in _OBJECTS else [assigned(one)]
        told = {snake(text_of(p[0]).strip("'\"`:")): text_of(p[1])[:_CUT] for p in pairs if p is not None}
        keywords |= told
        if one.type in _OBJECTS or not told:
            given.append(text_of(one)[:_CUT])
    return Said(
        name=name,
        line=line_of(node),
        text=text_of(node)[:_CUT],
        owner=owner.rpartition(".")[0][:_CUT],
        given=tuple(given),
        keywords=keywords,
        within=tuple(_within(node)) if name in ADDING else (),
    )


def _within(node: Node) -> Iterator[Compared]:
    for inner in [*walk(node, frozenset())][:_MOST]:
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        many = inner.named_children
        if (left is None or right is None) and "equality" in inner.type and len(many) == 2:
            left, right = many
        if left is None or right is None:
            continue
        sign = next((text_of(n) for n in inner.children if not n.is_named), "")
        sign = _SIGNS.get(sign, sign)
        if sign in ("==", "!="):
            yield Compared(left=text_of(left), operator=sign, right=text_of(right))
