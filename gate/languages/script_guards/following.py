"""From a part of a script to what it is made from and what it calls: the walks of both readers, bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import walk

Behind = Callable[[Node], Iterable[Node]]
"""What stands behind one node elsewhere in the file: a name's value, a function's body."""
_DEPTH: Final = 4
_MOST: Final = 400
"""Nodes of one expression."""


def reached(node: Node, called: Behind) -> Iterator[Node]:
    """A part, and the bodies of the file's functions that it calls, each once."""
    done: set[int] = set()
    waiting = [(node, _DEPTH)]
    while waiting:
        one, depth = waiting.pop()
        if one.id in done:
            continue
        done.add(one.id)
        yield one
        for inner in walk(one, frozenset()) if depth else ():
            waiting += [(body, depth - 1) for body in called(inner)]


def made_from(node: Node, sources: Behind, apart: frozenset[str]) -> Iterator[Node]:
    """Every node of an expression, and of what its names and local calls stand for, each once. ``apart``:
    types of nodes that are not looked into.
    """
    done: set[int] = set()

    def follow(part: Node, depth: int) -> Iterator[Node]:
        for one in walk(part, apart):
            if one.id in done or len(done) >= _MOST:
                continue
            done.add(one.id)
            yield one
            for source in sources(one) if depth else ():
                yield from follow(source, depth - 1)

    return follow(node, _DEPTH)
