"""What one program shares between callers. Runs in the limited child; one reader for every grammar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from gate.languages.grammars import is_read
from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.protections.shared.contexts import contexts, inherited
from gate.protections.shared.declared import declared
from gate.protections.shared.facts import Shared
from gate.protections.shared.kept import fetched, wrapped
from gate.protections.shared.pools import pooled
from gate.protections.tree_sitter.functions import function_around
from gate.protections.tree_sitter.shapes import assigned, inside, is_call, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION: Final = regex(
    r"function_(?:declaration|definition|item)|method(?:_declaration|_definition)?|singleton_method|arrow_function"
    r"|function_expression|constructor_declaration"
)
_LONGEST: Final = 5_000
_LONGEST_VALUE: Final = 800
_MOST: Final = 400


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Shared]:
    """All such places of a program."""
    del options
    grammar = is_read(path)
    if not grammar:
        return []
    root = parse(without_long_lines(data, _LONGEST), grammar)
    given = _given(root)
    found: list[Shared] = []
    for node in walk(root, frozenset()):
        if is_call(node) or node.type == "function_call":
            found += pooled(node)
            found += wrapped(node, given)
        found += inherited(node)
        found += declared(node)
        if _FUNCTION.fullmatch(node.type):
            found += contexts(node)
            found += fetched(node, given)
        if len(found) >= _MOST:
            break
    return [*dict.fromkeys(found)][:_MOST]


def _given(root: Node) -> dict[tuple[int, str], Node]:
    """What a name of a function was given last."""
    found: dict[tuple[int, str], Node] = {}
    for node in walk(root, frozenset()):
        pair = assigned(node)
        if pair is None and node.type in ("let_declaration", "assignment_statement", "short_var_declaration"):
            named = node.named_children
            pair = (inside(named[0]), inside(named[-1])) if len(named) > 1 else None
        if pair is not None and pair[1].end_byte - pair[1].start_byte <= _LONGEST_VALUE:
            found[function_around(node).id, text_of(pair[0]).strip("$@ ")] = pair[1]
    return found
