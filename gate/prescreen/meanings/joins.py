"""Which columns of an owner the queries of a program ask for: in WHERE, in inner joins, in outer ones.

An inner join on the memberships of who asks leaves other rows out. As an outer join it has the same words and
leaves nothing out. Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse, walk
from gate.prescreen.meanings.builders import asks_for_presence, join_of, lines_of
from gate.protections.queries import bound_columns, bound_in, patterned_columns, split_at, tokens_of
from gate.protections.tree_sitter.functions import function_around
from gate.protections.tree_sitter.shapes import line_of, short_name
from gate.protections.vocabulary import is_key, is_owner
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY: Final = regex(r"(?i)\bselect\b[\s\S]{1,8000}?\bfrom\b")
_SEAM: Final = regex(r"[\"']\s*\+?\s*[rRfFbB]?[\"']")
_ENDS: Final = frozenset({
    "where", "group", "order", "limit", "having", "union", "join", "left", "right", "full", "inner", "cross",
    "natural", "for", "offset", "window", "returning", "lateral", ";",
})  # fmt: skip
_OUTER: Final = frozenset({"left", "right", "full", "outer"})
_FUNCTION: Final = regex(r"function|method|lambda|arrow|func_literal|^def")
_LARGEST: Final = 20_000
_MOST: Final = 200
_FEWEST: Final = 3
"""Words of a condition."""


class Query(msgspec.Struct, frozen=True):
    """One query. ``name``: what it is called, or the function that it stands in. ``table``: what it reads
    first. ``inner``, ``outer``: owners' columns that joins bind to a given value; ``where``: those of its
    conditions. ``keys``: columns of codes and the like that must be equal to a given value, ``patterns``:
    those that need only fit it.
    """

    name: str
    in_function: bool
    table: str
    inner: list[str]
    outer: list[str]
    where: list[str]
    words: list[str]
    line: int
    keys: list[str] = []
    patterns: list[str] = []


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Query]:
    """The queries of one file."""
    del options
    if path.endswith(".sql"):
        return [*_of_sql(data.decode("utf-8", "replace"))][:_MOST]
    root = parse(data, "tree_sitter_python" if path.endswith((".py", ".pyw")) else grammar_of(path))
    return [*_of_program(root), *_of_builders(root)][:_MOST]


def _of_program(root: Node) -> Iterator[Query]:
    for node in walk(root, frozenset()):
        if "string" not in node.type or node.parent is None or "string" in node.parent.type:
            continue
        raw = (node.text or b"").decode("utf-8", "replace")
        if len(raw) < _LARGEST and _QUERY.search(raw):
            name, in_function = _named(node)
            yield query_of(
                _SEAM.sub(" ", raw).strip("\"'`frbFRB "), name, line_of(node), in_function=in_function
            )


def _of_builders(root: Node) -> Iterator[Query]:
    for node, line in lines_of(root):
        if (found := join_of(node)) is None:
            continue
        joined, columns, is_outer = found
        name, in_function = _named(node)
        is_inner = not is_outer or asks_for_presence(function_around(node))
        inner, outer = (columns, []) if is_inner else ([], columns)
        yield Query(name, in_function, f"join {joined}", inner, outer, [], columns, line)


def _of_sql(text: str) -> Iterator[Query]:
    """Statements by ``-- name: X`` in front of them, or by the view that they make."""
    line = 1
    for statement in text.split(";"):
        called = re.search(
            r"--\s*name:\s*(\w+)|\bview\s+(?:if\s+not\s+exists\s+)?([\w.\"]+)", statement, re.IGNORECASE
        )
        bare = re.sub(r"--[^\n]*", "", statement)
        if called and _QUERY.search(bare) and len(bare) < _LARGEST:
            name = called[1] or called[2].strip('"')
            start = line + statement[: called.start()].count("\n")
            yield query_of(bare, name, start, in_function=False)
        line += statement.count("\n")


def _named(node: Node) -> tuple[str, bool]:
    parts: list[str] = []
    in_function = False
    at = node.parent
    while at is not None:
        if at.type in (
            "assignment",
            "variable_declarator",
            "const_spec",
            "var_spec",
            "pair",
            "const_element",
        ):
            named = next((at.child_by_field_name(field) for field in ("left", "name", "key")
                          if at.child_by_field_name(field) is not None), None)  # fmt: skip
            parts.append(short_name(named or at.named_children[0]))
        elif _FUNCTION.search(at.type):
            in_function = True
            parts.append(short_name(at.child_by_field_name("name")))
        at = at.parent
    return ".".join(reversed([one for one in parts if one])), in_function


def query_of(text: str, name: str, line: int, *, in_function: bool) -> Query:
    """What one query asks of owners' columns."""
    tokens = [*tokens_of(text)]
    low = [one.lower() for one in tokens]
    inner: set[str] = set()
    outer: set[str] = set()
    for at, word in enumerate(low):
        if word == "join":
            alias, condition = _joined(tokens[at + 1 :])
            columns = {one for one in bound_in(condition) if is_owner(one)} if condition else set()
            is_outer = not _OUTER.isdisjoint(low[max(0, at - 2) : at])
            if is_outer and not _is_asked(alias, tokens, low):
                outer |= columns
            else:
                inner |= columns
    bound = bound_columns(text)
    where = {one for one in bound if is_owner(one)}
    table = next((tokens[at + 1] for at, word in enumerate(low[:-1]) if word == "from"), "")
    return Query(
        name=name,
        in_function=in_function,
        table=table.lower(),
        inner=sorted(inner),
        outer=sorted(outer),
        where=sorted(where),
        words=sorted({one for one in low if one.isidentifier()})[:_MOST],
        line=line,
        keys=sorted(filter(is_key, bound)),
        patterns=sorted(filter(is_key, patterned_columns(text))),
    )


def _joined(tokens: Sequence[str]) -> tuple[str, list[str]]:
    """The alias of what is joined, and its condition."""
    low = [one.lower() for one in tokens]
    end = _end(tokens, low)
    on = low.index("on") if "on" in low[:end] else -1
    if on < 0:
        return "", []
    named = [one for one in tokens[:on] if one.lower() not in ("as", "lateral") and one not in "()"]
    return (named[-1].lower() if named else ""), list(tokens[on + 1 : end])


def _end(tokens: Sequence[str], low: Sequence[str]) -> int:
    deep = 0
    for at, mark in enumerate(tokens):
        deep += (mark == "(") - (mark == ")")
        if deep < 0 or (deep == 0 and low[at] in _ENDS):
            return at
    return len(tokens)


def _is_asked(alias: str, tokens: Sequence[str], low: Sequence[str]) -> bool:
    """Does WHERE ask something of the joined row that a row which is not there does not answer?"""
    if not alias or "where" not in low:
        return False
    begin = len(low) - 1 - list(reversed(low)).index("where")
    condition = list(tokens[begin + 1 : begin + 1 + _end(tokens[begin + 1 :], low[begin + 1 :])])
    for part in split_at(condition, "and"):
        said = [one.lower() for one in part]
        names = any(one.startswith(f"{alias}.") for one in said)
        absent = "or" in said or ("is" in said and "not" not in said) or "coalesce" in said
        if names and not absent and len(said) >= _FEWEST:
            return True
    return False
