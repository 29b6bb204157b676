"""A syntax tree of Python as text, whatever Python wrote it."""

from __future__ import annotations

import ast


def unparsed(node: ast.AST) -> str:
    """The node as source; its dump where this Python cannot write it (an f-string of a newer one)."""
    try:
        return ast.unparse(node)
    except ValueError:
        return ast.dump(node)
