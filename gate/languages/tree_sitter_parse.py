"""Syntax trees by tree-sitter's official grammars. Runs in the limited child only (isolated.py): the parsers
are C code that reads hostile text, and their time and memory are bounded by nobody else.
"""

from __future__ import annotations

import importlib
import warnings
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
def language_of(grammar: str) -> tree_sitter.Language:
    """A grammar by the name of its module and, where that has several, its function
    (``tree_sitter_php:language_php``). Loaded once per process.
    """
    module, _, function = grammar.partition(":")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # some wheels hand over a number, not a capsule
        return tree_sitter.Language(getattr(importlib.import_module(module), function or "language")())


@cache
def _parser(grammar: str) -> tree_sitter.Parser:
    made = _GRAMMARS.get(grammar)
    return tree_sitter.Parser(tree_sitter.Language(made()) if made else language_of(grammar))


def parse(source: bytes, grammar: str) -> tree_sitter.Node:
    """The root of the tree; ``has_error`` where the text is not of that grammar. Rows count line feeds.

    ``grammar``: bash, javascript, typescript or tsx, which are always loaded, or as ``language_of`` takes it.
    """
    return _parser(grammar).parse(source).root_node


def without_long_lines(source: bytes, longest: int) -> bytes:
    """The text with lines of more than ``longest`` bytes empty: one of them must not hide all others. What
    long lines hold is told elsewhere (layout, programs that cannot be read).
    """
    return b"\n".join(b"" if len(line) > longest else line for line in source.split(b"\n"))


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
