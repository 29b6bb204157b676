"""Functions of JavaScript that merge one object into another, key by key and deep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.regex import regex
from gate.taint.program import Node

_GUARDED: Final = regex(
    r"__proto__|\bhasOwn|Object\.create\(null\)|['\"]prototype['\"]|Object\.freeze\(Object\.prototype"
)
"""Words of a file that knows of the keys that reach every object."""


def merged(function: Node, text: str) -> tuple[Node, int] | None:
    """The call of a function by itself with an entry of one parameter, and which parameter that is, where
    another parameter gets entries by the same keys; None where it is no such merge, or keeps keys out.
    """
    params = [part.text for part in function.parts if part.kind == "param"]
    if not function.text or len(params) < 2 or _GUARDED.search(text):
        return None
    every = list(_inside(function.parts[-1]))
    named = {one.parts[0].text: one.parts[1] for one in every if one.kind == "assign" and len(one.parts) == 2}
    kept = {_held(one.parts[0], named) for one in every if one.kind == "assign" and one.parts}
    for call in every:
        if call.kind != "call" or call.parts[0].text != function.text or len(call.parts) < 3:
            continue
        entries = [_held(one, named) for one in call.parts[1:]]
        for index, name in enumerate(params):
            others = {one for one in params if one != name}
            if name in entries and others & kept and others & set(entries):
                return call, index
    return None


def _held(node: Node, named: dict[str, Node]) -> str:
    """Of ``a[k]``, or of a name for it, ``a``."""
    if node.kind == "name":
        node = named.get(node.text, node)
    while node.kind in ("or", "any", "cond") and node.parts:
        node = node.parts[0] if node.kind != "cond" else node.parts[1]
    is_entry = node.kind == "index" and node.parts[0].kind == "name" and node.parts[1].kind == "name"
    return node.parts[0].text if is_entry else ""


def _inside(node: Node) -> Iterator[Node]:
    yield node
    for part in node.parts:
        yield from _inside(part)
