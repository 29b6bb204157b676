"""Deletions in Go of what the same function made: the temporary file of a write that failed, its folder."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from gate.languages.sensitive_calls.grammar import Parsed
from gate.languages.tree_sitter_parse import walk
from gate.regex import regex

_FUNCTIONS: Final = frozenset({"function_declaration", "method_declaration"})
_MAKES: Final = regex(r"(?:os\.(?:CreateTemp|MkdirTemp)|ioutil\.Temp(?:File|Dir))\(")
_DELETES: Final = regex(r"(?:os\.Remove(?:All)?)\((\w+)(?:\.Name\(\))?\)")
_NAMED: Final = regex(r"(\w+)\.Name\(\)")


def own_files(parsed: Parsed) -> frozenset[int]:
    """Where calls begin that delete what their own function made under a new name, and nothing else.

    A name that is given anything else in the function, or comes in as a parameter, is not its own.
    """
    found: set[int] = set()
    for node in walk(parsed.root, _FUNCTIONS):
        if node.type in _FUNCTIONS:
            found |= _of_function(node)
    return frozenset(found)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _of_function(function: Node) -> set[int]:
    made: dict[str, bool] = {}
    calls: list[Node] = []
    for node in walk(function, frozenset()):
        if node.type in ("short_var_declaration", "assignment_statement"):
            name = _text(node.child_by_field_name("left")).partition(",")[0].strip()
            value = _text(node.child_by_field_name("right"))
            made[name] = made.get(name, True) and _is_new(value, made)
        elif node.type == "parameter_declaration":
            for one in node.children_by_field_name("name"):
                made[_text(one)] = False
        elif node.type == "call_expression":
            calls.append(node)
    deleted = ((node, _DELETES.fullmatch(_text(node))) for node in calls)
    return {node.start_byte for node, match in deleted if match is not None and made.get(match[1], False)}


def _is_new(value: str, made: dict[str, bool]) -> bool:
    if _MAKES.match(value):
        return True
    match = _NAMED.fullmatch(value)
    return match is not None and made.get(match[1], False)
