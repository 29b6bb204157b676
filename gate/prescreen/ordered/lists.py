"""Lists of constants by name: of programs, and the lines, columns and lists of data files.

Runs in the limited child.
"""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import msgspec

from gate.languages.tree_sitter_parse import walk
from gate.protections.tree_sitter.functions import function_around
from gate.protections.tree_sitter.shapes import assigned, line_of, text_of
from gate.supply.yaml_data import UnreadableYamlError, read_yaml_documents

if TYPE_CHECKING:
    from tree_sitter import Node

LINES: Final = (".txt", ".list", ".lst", ".names")
TABLES: Final = (".csv", ".tsv")
TREES: Final = (".json", ".yaml", ".yml", ".toml")
_LISTS: Final = frozenset({
    "array", "list", "tuple", "string_array", "symbol_array", "array_creation_expression",
    "array_initializer",
    "initializer_expression", "literal_value", "collection_expression", "array_expression", "expression_list",
})  # fmt: skip
_PLAIN: Final = frozenset({
    "string", "string_literal", "interpreted_string_literal", "raw_string_literal", "simple_symbol",
    "encapsed_string", "bare_string", "bare_symbol", "integer", "number", "int_literal", "integer_literal",
    "decimal_integer_literal", "float", "float_literal", "char_literal", "verbatim_string_literal",
    "decimal_floating_point_literal", "real_literal", "constant",
})  # fmt: skip
_LONGEST: Final = 400
_MOST: Final = 400
_DEEPEST: Final = 10


class Listed(msgspec.Struct, frozen=True):
    """One list. ``kind``: named in code or data, the lines of a file, the columns of a table, or what a
    function returned.
    """

    kind: str
    name: str
    values: list[str]
    line: int


def lists_in(root: Node) -> Iterator[Listed]:
    """Lists of constants that a program gives a name."""
    for node in walk(root, frozenset()):
        pair = assigned(node)
        if pair is None:
            continue
        value = _list_of(pair[1])
        members = [_member(one) for one in value.named_children if "comment" not in one.type] if value else []
        if 2 <= len(members) <= _LONGEST and all(members):
            yield Listed("named", text_of(pair[0]).rpartition(".")[2].lstrip("$@"), members, line_of(node))


def returned_in(root: Node) -> Iterator[Listed]:
    """What functions give back as a row of names: ``return venue, artist``."""
    for node in walk(root, frozenset()):
        if node.type not in ("return_statement", "return"):
            continue
        row = next(iter(node.named_children), None)
        if row is not None and row.type == "argument_list" and row.named_child_count == 1:
            row = row.named_children[0]
        if row is None or row.type not in ("expression_list", "tuple", "array", "argument_list"):
            continue
        members = [text_of(one) for one in row.named_children if "comment" not in one.type]
        name = text_of(function_around(node).child_by_field_name("name"))
        if name and 2 <= len(members) <= 12 and len(set(members)) == len(members):
            yield Listed("returned", name, members, line_of(node))


def _list_of(node: Node) -> Node | None:
    """The list itself: behind ``freeze``, ``as const``, ``[]string{...}``, ``List.of(...)``, ``&[...]``."""
    for _ in range(4):
        if node.type in _LISTS and node.type != "expression_list":
            inner = next(
                (n for n in node.named_children if n.type in ("array_initializer", "initializer_expression")),
                None,
            )
            return inner or node
        inner = (
            node.child_by_field_name("receiver") or node.child_by_field_name("body")
            or node.child_by_field_name("arguments") or node.child_by_field_name("value")
        )  # fmt: skip
        if inner is None and node.type in (
            "as_expression",
            "satisfies_expression",
            "reference_expression",
            "expression_list",
        ):
            inner = next(iter(node.named_children), None)
        if inner is None:
            return None
        if inner.type in ("argument_list", "value_arguments", "arguments"):
            called = text_of(node).partition("(")[0].rpartition(".")[2]
            return inner if called in ("of", "asList", "listOf", "arrayOf") else None
        node = inner
    return None


def _member(node: Node) -> str:
    while (
        node.type in ("literal_element", "array_element_initializer", "value_argument", "argument")
        and node.named_children
    ):
        node = node.named_children[0]
    text = text_of(node)
    plain = node.type in _PLAIN or (node.type == "identifier" and text.isupper())
    return text.strip(":\"'`") if plain and "${" not in text and "#{" not in text else ""


def data_lists(path: str, data: bytes) -> Iterator[Listed]:
    """Lists of a data file: all its lines, its columns, or lists of plain values under a key."""
    suffix = PurePosixPath(path).suffix.lower()
    text = data.decode("utf-8", "replace")
    if suffix in LINES:
        rows = [line.strip() for line in text.split("\n")]
        rows = [row for row in rows if row and not row.startswith(("#", "//"))]
        if 2 <= len(rows) <= _LONGEST:
            yield Listed("lines", "", rows, 1)
    elif suffix in TABLES:
        table = [*csv.reader(text.split("\n")[:1], delimiter="\t" if suffix == ".tsv" else ",")][:1]
        yield from (Listed("columns", "", row, 1) for row in table if len(row) >= 2)
    elif suffix in TREES:
        for document in _documents(suffix, data, text):
            yield from _under(document, "", 0)


def _documents(suffix: str, data: bytes, text: str) -> list[object]:
    try:
        if suffix in (".yaml", ".yml"):
            return [one.data for one in read_yaml_documents(data)]
        return [json.loads(text) if suffix == ".json" else tomllib.loads(text)]
    except (UnreadableYamlError, ValueError, RecursionError):
        return []


def _under(value: object, key: str, depth: int) -> Iterator[Listed]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for name, one in list(value.items())[:_MOST]:
            yield from _under(one, str(name), depth + 1)
    elif isinstance(value, list) and key:
        plain = [
            str(one) for one in value if isinstance(one, str | int | float) and not isinstance(one, bool)
        ]
        if len(plain) == len(value) and 2 <= len(plain) <= _LONGEST:
            yield Listed("named", key, plain, 0)
        for one in value[:_MOST]:
            yield from _under(one, key, depth + 1) if isinstance(one, dict) else ()
