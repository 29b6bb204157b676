"""What a module of JavaScript takes from others by name, and what it imports for its effect alone.

Runs in the limited child: ``gate.builds.effects:read``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse, walk
from gate.protections.tree_sitter.shapes import line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class Module(msgspec.Struct, frozen=True):
    """One module. ``alone``: what it imports for its effect, with lines; ``named``: what it takes names from;
    ``pure``: statements that a bundler leaves out because a comment calls them pure.
    """

    alone: list[tuple[str, int]]
    named: list[str]
    pure: list[tuple[str, int]]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Module:
    """The imports of one program, and its statements that are said to be pure."""
    del options
    root = parse(data, grammar_of(path))
    alone: list[tuple[str, int]] = []
    named: list[str] = []
    for node in walk(root, frozenset()):
        if node.type in ("import_statement", "export_statement"):
            source = node.child_by_field_name("source")
            if source is None:
                continue
            at = text_of(source).strip("'\"")
            if node.type == "import_statement" and not _has_clause(node):
                alone.append((at, line_of(node)))
            else:
                named.append(at)
    return Module(alone, named, [*_pure(root)] if b"__PURE__" in data else [])


def _has_clause(node: Node) -> bool:
    return any(child.type == "import_clause" for child in node.named_children)


def _pure(root: Node) -> Iterator[tuple[str, int]]:
    """Calls that are statements by themselves, behind ``/* @__PURE__ */``."""
    for node in walk(root, frozenset()):
        if node.type != "comment" or "__PURE__" not in text_of(node):
            continue
        after = node.next_named_sibling
        above = node.parent
        statement = after if after is not None and after.type == "expression_statement" else above
        if statement is None or statement.type != "expression_statement":
            continue
        call = next((n for n in statement.named_children if n.type != "comment"), None)
        while call is not None and call.type == "await_expression":
            call = next((n for n in call.named_children if n.type != "comment"), None)
        if call is not None and call.type in ("call_expression", "new_expression"):
            yield text_of(call)[:200], line_of(statement)
