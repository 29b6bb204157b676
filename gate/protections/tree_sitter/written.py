"""What a function writes to a database, and where it takes the domain of an address. In the limited child."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import walk
from gate.protections.bulk import Written, bulk_facts
from gate.protections.domains import domain_facts
from gate.protections.overall.said import plain
from gate.protections.traits import Fact
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    is_call,
    line_of,
    short_name,
    text_of,
)

_CUT: Final = 300
_MOST: Final = 400


def written_facts(function: Node) -> Iterator[Fact]:
    """The two of them, of one outermost function with its name."""
    calls = [n for n in walk(function, frozenset()) if is_call(n)][:_MOST]
    if not calls:
        return
    named = [(plain(callee(one)), one) for one in calls]
    yield from bulk_facts([_written(name, one) for name, one in named])
    splits = [(name, text_of(one)[:_CUT], line_of(one)) for name, one in named]
    yield from domain_facts(_name(function), splits, text_of(function))


def _written(name: str, call: Node) -> Written:
    columns = [
        short_name(pair[0])
        for one in arguments(call)
        for inner in walk(one, frozenset())
        if (pair := assigned(inner)) is not None
    ]
    columns += [text_of(one).strip(":'\"") for one in arguments(call) if "symbol" in one.type]
    return name, text_of(call)[:_CUT], tuple(columns), line_of(call)


def _name(function: Node) -> str:
    """Its own name, or that of what it is assigned to."""
    name = function.child_by_field_name("name")
    above = function.parent
    if name is None and above is not None and above.type in ("variable_declarator", "pair"):
        name = above.child_by_field_name("name") or above.child_by_field_name("key")
    return text_of(name)
