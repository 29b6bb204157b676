"""Syntax trees by tree-sitter's official grammars. Runs in the limited child only (isolated.py): the parsers
are C code that reads hostile text, and their time and memory are bounded by nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

import tree_sitter
import tree_sitter_bash
import tree_sitter_javascript
import tree_sitter_typescript

_GRAMMARS: Final[dict[str, Callable[[], object]]] = {
    "bash": tree_sitter_bash.language,
    "javascript": tree_sitter_javascript.language,
    "typescript": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
}


@cache
def _parser(grammar: str) -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(_GRAMMARS[grammar]()))


def parse(source: bytes, grammar: str) -> tree_sitter.Node:
    """The root of the tree; ``has_error`` where the text is not of that grammar. Rows count line feeds."""
    return _parser(grammar).parse(source).root_node


def walk(root: tree_sitter.Node, whole: frozenset[str]) -> Iterator[tree_sitter.Node]:
    """All nodes in the order of the text, each before its children; of those in ``whole`` no children."""
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is None:
            return
        yield node
        if node.type not in whole and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
