"""Quantities that protect in languages that tree-sitter reads. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.protections.facts import Strength
from gate.protections.strengths import (
    place_of,
    random_bits,
    random_strength,
    secret_strength,
    strength,
)
from gate.protections.tree_sitter.options import options_of
from gate.protections.tree_sitter.schemas import schema_strengths
from gate.protections.tree_sitter.shapes import (
    Value,
    arguments,
    assigned,
    callee,
    folded,
    is_call,
    named_values,
    short_name,
    text_of,
)
from gate.protections.tree_sitter.told import told_of

_CUT: Final = 160
_MILLISECONDS: Final = ("max_age", "cookie_age", "window_ms")
_SURELY: Final = 10_000_000
"""A lifetime that is written so is milliseconds: as seconds it would be four months."""
_LESS: Final = ("<", "<=")
_MORE: Final = (">", ">=")
_LENGTHS: Final = ("length", "size", "len", "count")

Constants = Mapping[str, Node]


def constants_in(root: Node) -> Constants:
    """Names of a file that get one value, wherever."""
    found: dict[str, Node] = {}
    again: set[str] = set()
    for left, right in named_values(root):
        name = short_name(left)
        again |= {name} & found.keys()
        found[name] = right
    return {name: value for name, value in found.items() if name not in again}


def strengths_in(root: Node, about: str, known: Constants, skip: frozenset[int]) -> Iterator[Strength]:
    """The quantities that protect below a node. ``skip``: ids of nodes that are units of their own."""
    todo: list[tuple[Node, str]] = [(root, about)]
    while todo:
        node, around = todo.pop()
        if node.id in skip and node.id != root.id:
            continue
        words = around
        yield from _secret(node)
        yield from options_of(node, known)
        yield from schema_strengths(node)
        yield from told_of(node, known)
        pair = assigned(node)
        if pair is not None:
            name = short_name(pair[0])
            words = f"{around} {name}"
            yield from _slot(name, _beside(node, around), pair[1], node, known)
        elif is_call(node):
            called = callee(node)
            words = f"{around} {called} {' '.join(_plain(one) for one in arguments(node))}"
            yield from _call(node, called, words, known)
        elif "binary" in node.type or "comparison" in node.type or node.type.startswith("relational"):
            yield from _bound(node, around, known)
        todo += [(child, words) for child in node.named_children]


def _secret(node: Node) -> Iterator[Strength]:
    """``process.env.JWT_SECRET``, and what stands in the source for where it is unset."""
    if node.type != "member_expression" or not text_of(node).startswith("process.env."):
        return
    around = node.parent
    last = around.child_by_field_name("right") if around is not None and "binary" in around.type else None
    text = (
        text_of(last).strip("'\"`") if last is not None and last.type == "string" and last != node else None
    )
    name = text_of(node).rpartition(".")[2]
    made = secret_strength(name, text, text_of(around if text else node)[:_CUT], node.start_point[0] + 1)
    if made is not None:
        yield made


def _plain(node: Node) -> str:
    """A name or a text among arguments, which says what they are about."""
    return text_of(node)[:60] if not node.named_child_count or "string" in node.type else ""


def _beside(node: Node, about: str) -> str:
    """The names that stand beside a pair, which say what an object is about."""
    holder = node.parent
    if holder is None or assigned(node) is None or holder.type not in ("object", "hash", "literal_value"):
        return about
    pairs = (assigned(one) for one in holder.named_children)
    return f"{about} {' '.join(short_name(pair[0]) for pair in pairs if pair is not None)}"


def _slot(name: str, about: str, value: Node, node: Node, known: Constants) -> Iterator[Strength]:
    amount = folded(value, known) if name else None
    if amount is None:
        return
    number, timed = _seconds(name, amount)
    made = strength(name, about, number, text_of(node)[:_CUT], _line(value, node, known), timed=timed)
    if made is not None:
        yield made


def _seconds(name: str, amount: Value) -> Value:
    number, timed = amount
    if not timed and number >= _SURELY and snake(name).endswith(_MILLISECONDS):
        return number / 1000, True
    return amount


def _line(value: Node, node: Node, known: Constants) -> int:
    return (known.get(text_of(value), value if value is not node else node)).start_point[0] + 1


def _call(node: Node, called: str, about: str, known: Constants) -> Iterator[Strength]:
    given = arguments(node)
    dotted = called.replace("::", ".").replace("->", ".")
    last = dotted.rpartition(".")[2]
    made = random_bits(last)
    if snake(last) == "hex" and "securerandom" in dotted.lower():
        made = (8, 16)
    if made is not None:
        length = folded(given[0], known) if given else (made[1], False)
        if length is not None and length[0] > 0:
            line = _line(given[0], node, known) if given else node.start_point[0] + 1
            yield random_strength(length[0] * made[0], text_of(node)[:_CUT], line)
        return
    place = place_of(last)
    if place is not None and len(given) > place[0]:
        yield from _slot(place[1], about, given[place[0]], node, known)
    if last in ("min", "max") and given and "passw" in snake(about):  # z.string().min(12)
        yield from _slot(f"{last}_length", about, given[0], node, known)


def _bound(node: Node, about: str, known: Constants) -> Iterator[Strength]:
    """``password.length < 12``, ``attempts >= 5``, ``now - issued > 3600``."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = next((text_of(n) for n in node.children if not n.is_named), "")
    if left is None or right is None or operator not in (*_LESS, *_MORE):
        return
    for side, limit, less in ((left, right, operator in _LESS), (right, left, operator in _MORE)):
        if folded(side, known) is not None:
            continue
        name = short_name(side)
        if name.lower() in _LENGTHS or (is_call(side) and short_name(side) in ("len", "strlen")):
            name = "min_length" if less else ""
        elif "binary" in side.type:
            name = "" if less else "max_age"
        elif less:
            name = ""
        yield from _slot(name, f"{about} {text_of(side)[:60]}", limit, node, known)
