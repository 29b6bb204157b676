"""Names, short texts and imports of a file that tree-sitter reads. Runs in the limited child."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import walk
from gate.protections.makers import LONGEST
from gate.protections.tree_sitter.shapes import line_of, text_of

_DOTTED: Final = frozenset(
    {"selector_expression", "member_expression", "member_access_expression", "field_access"}
)
_IMPORTS: Final = frozenset({"import_spec", "import_declaration", "import_header", "using_directive"})


def file_words(root: Node) -> dict[str, int]:
    """Each word with its line, where it stands first."""
    found: dict[str, int] = {}
    for node in walk(root, frozenset()):
        if node.end_byte - node.start_byte > 3 * LONGEST:
            continue
        for word in _of_node(node):
            found.setdefault(word, line_of(node))
    return found


def _of_node(node: Node) -> list[str]:
    if node.type in _IMPORTS:
        path = node.child_by_field_name("path") or next(iter(node.named_children), None)
        return [f"import {text_of(path).strip(chr(34) + chr(96))}"] if path is not None else []
    if "identifier" in node.type or node.type in ("name", "constant"):
        return [text_of(node)]
    if node.type in _DOTTED:
        return [text_of(node)]
    if "string" in node.type and (node.parent is None or node.parent.type not in _IMPORTS):
        return [text_of(node).strip("'\"`")]
    return []
