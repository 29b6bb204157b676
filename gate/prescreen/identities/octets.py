"""Addresses of machines that are written as four numbers: an array, a tuple, what a constructor is given.

``Ipv4Addr::new(198, 51, 100, 16)``, ``[198, 51, 100, 16 + GAP]`` and ``new byte[] {...}`` hold no text with
dots, so no reader of texts sees them. Only programs that speak of such addresses are looked at: four
numbers are colours and margins elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse
from gate.prescreen.identities.written import Written
from gate.prescreen.python_ast.scanner import parse as parse_python
from gate.protections.tree_sitter.shapes import assigned
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_SPEAKS: Final = regex(
    rb"(?i)ipv4|ip_?addr|inet_?(?:addr|aton|pton|address)|sock_?addr|net\.ip\b|netip\.|ipaddress|ip_address|std::net|dgram"
    rb"|INADDR|ip2long"
)
_LISTS: Final = frozenset({
    "array_expression", "array", "arguments", "argument_list", "literal_value", "array_initializer",
    "tuple_expression",
    "array_creation_expression", "initializer_list", "initializer_expression", "composite_literal",
    "value_arguments",
    "collection_literal", "token_tree", "array_element_initializer",
})  # fmt: skip
_FIGURE: Final = regex(r"(?:\(\s*byte\s*\)\s*)?\(?(\d{1,3}|0x[0-9a-fA-F]{1,2})\)?(?:_?u8|\.toByte\(\))?")
_OURS: Final = regex(r"(?:0|10|127|255|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\.")
_LONGEST: Final = 60
_MOST: Final = 200_000


def written(path: str, data: bytes) -> Iterator[Written]:
    """Each address by the names that lead to it. A number that is computed stays as it is written."""
    if not _SPEAKS.search(data):
        return
    if grammar_of(path):
        yield from _of_tree(parse(data, grammar_of(path)))
    elif path.endswith((".py", ".pyw")):
        try:
            module = parse_python(path, data)
        except (SyntaxError, ValueError):
            return
        for node in ast.walk(module.tree):
            parts = (
                node.elts
                if isinstance(node, ast.Tuple | ast.List)
                else node.args
                if isinstance(node, ast.Call)
                else []
            )
            if len(parts) == 4 and (value := _address([ast.unparse(part) for part in parts])):
                yield Written(("octets",), value, getattr(node, "lineno", 1))


def _of_tree(root: Node) -> Iterator[Written]:
    waiting: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    count = 0
    while waiting and count < _MOST:
        node, names = waiting.pop()
        count += 1
        if node.type in _LISTS:
            parts = [_text(part) for part in node.named_children if "comment" not in part.type]
            if len(parts) == 4 and (value := _address(parts)):
                yield Written((*names, "octets"), value, node.start_point[0] + 1)
                continue
        pair = assigned(node)
        name = node.child_by_field_name("name")
        below = (
            (*names, _text(pair[0]))
            if pair is not None
            else (*names, _text(name))
            if name is not None
            else names
        )
        waiting += [(child, below[-6:]) for child in reversed(node.named_children)]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")[: _LONGEST + 1]


def _address(parts: list[str]) -> str:
    """The address with dots, where the first two parts are figures and one more is."""
    figures = [_FIGURE.fullmatch(part.strip()) for part in parts]
    if not figures[0] or not figures[1] or sum(one is not None for one in figures) < 3:
        return ""
    read = [
        str(int(one[1], 0)) if one else " ".join(part.split())
        for one, part in zip(figures, parts, strict=True)
    ]
    if any(len(one) > _LONGEST or (one.isdigit() and int(one) > 255) for one in read):
        return ""
    value = ".".join(read)
    return "" if _OURS.match(value) else value
