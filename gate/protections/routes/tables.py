"""Registrations in a loop over a table that is written down: what each row gives a call. JavaScript.

``for (const [path, guards, router] of areas) app.use(path, ...guards, router)``. Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tree_sitter import Node

from gate.protections.routes.chains import method, receiver
from gate.protections.tree_sitter.shapes import assigned, inside, is_call, short_name, text_of

_DEPTH: Final = 12
_MOST_ROWS: Final = 60
_EACH: Final = ("forEach", "map")

Row = Mapping[str, Node]
"""Names of a loop with what a row gives them; ``item.router`` for members of a row that has a name."""


def rows_around(call: Node, nodes: Sequence[Node]) -> list[Row]:
    """The rows of the table that the nearest loop around a call goes through; one empty row without one."""
    at = call.parent
    for _ in range(_DEPTH):
        if at is None:
            break
        if at.type == "for_in_statement":
            names, table = at.child_by_field_name("left"), at.child_by_field_name("right")
            if names is not None and table is not None and (found := [*_rows(names, table, nodes)]):
                return found
        elif at.type == "arrow_function" and (given := _each(at)) is not None:
            names = at.child_by_field_name("parameters") or at.child_by_field_name("parameter")
            first = names.named_children[0] if names is not None and names.named_children else names
            if first is not None and (found := [*_rows(first, given, nodes)]):
                return found
        at = at.parent
    return [{}]


def _each(function: Node) -> Node | None:
    """The table of ``table.forEach((row) => ...)``."""
    call = function.parent.parent if function.parent is not None else None
    return receiver(call) if call is not None and is_call(call) and method(call) in _EACH else None


def _rows(names: Node, table: Node, nodes: Sequence[Node]) -> Iterator[Row]:
    names = inside(names)
    if names.type == "required_parameter" and (pattern := names.child_by_field_name("pattern")) is not None:
        names = pattern
    if table.type == "identifier":
        called = text_of(table)
        pairs = [pair for one in nodes if (pair := assigned(one)) is not None and text_of(pair[0]) == called]
        if len(pairs) != 1:  # who says which of several it is?
            return
        table = pairs[0][1]
    if table.type in ("as_expression", "satisfies_expression") and table.named_children:
        table = table.named_children[0]
    if table.type != "array":
        return
    for row in table.named_children[:_MOST_ROWS]:
        if row.type == "array" and names.type == "array_pattern":
            parts = [n for n in row.named_children if n.type != "comment"]
            yield dict(zip(map(text_of, names.named_children), parts, strict=False))
        elif row.type == "object":
            pairs = [pair for one in row.named_children if (pair := assigned(one)) is not None]
            keys = {short_name(key): value for key, value in pairs}
            if names.type == "identifier":
                keys = {f"{text_of(names)}.{key}": value for key, value in keys.items()}
            yield keys


def given_by(given: Sequence[Node], row: Row) -> list[Node]:
    """The arguments of a call with a row's values in the place of the loop's names."""
    found: list[Node] = []
    for one in given:
        spread = one.type == "spread_element" and bool(one.named_children)
        named = one.named_children[0] if spread else one
        value = row.get(text_of(named), named)
        found += value.named_children if spread and value.type == "array" else [value]
    return found
