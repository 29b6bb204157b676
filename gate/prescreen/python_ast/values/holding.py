"""What containers hold under a key, one of what they hold, and how constants are folded."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from gate.prescreen.python_ast.constants import NOT_CONST
from gate.prescreen.python_ast.values.domain import (
    CLEAN,
    State,
    Thing,
    Value,
    constant,
    joined,
    mixed,
)

ERRORS: Final = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)
"""What folding of constants may raise."""
LONG: Final = 4096
"""Longest text that is kept."""


def folded(action: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
    """An operator on two constants."""
    try:
        result = action(left.const, right.const)
    except ERRORS:
        return CLEAN
    if isinstance(result, str | bytes) and len(result) > LONG:
        return CLEAN
    return constant(result, firm=left.firm and right.firm)


def mixed_or_joined(values: Sequence[Value], state: State) -> Value:
    """``a or b``: one of them."""
    out = values[0]
    for value in values[1:]:
        out = joined(out, value, state, state)
    return out


def constants_of(thing: Thing | None, state: State) -> object:
    """The constants that a container holds (a dictionary's keys) as a list, where it holds nothing else."""
    if thing is None or thing.rest.taint or thing.kind not in ("list", "dict"):
        return NOT_CONST
    if thing.kind == "dict":
        return list(thing.items)
    del state
    values = [v.const for v in thing.items.values()]
    return NOT_CONST if any(v is NOT_CONST for v in values) else values


def element(state: State, value: Value) -> Value:
    """Any one of what an iterable holds."""
    thing = state.heap.get(value.ref) if value.ref is not None else None
    if thing is None:
        return mixed([value])
    if thing.kind == "dict":
        return mixed([thing.rest if thing.keys is None else thing.keys])
    out = thing.rest
    values = list(thing.items.values())
    if values and not out.taint:
        out, values = values[0], values[1:]
    for item in values:
        out = joined(out, item, state, state)
    return out


def get(state: State, thing: Thing, key: Value) -> Value:
    """What stands under a key."""
    if key.is_const and key.firm:
        place = key.const
        if thing.kind == "list" and isinstance(place, int) and place < 0:
            place = len(thing.items) + place
        try:
            found = thing.items.get(place)
        except TypeError:
            found = None
        if found is not None:
            return joined(found, mixed([found, thing.rest]), state, state) if thing.rest.taint else found
        return thing.rest
    return element(state, Value(ref=_ref_of(state, thing))) if thing.kind != "dict" else _any(state, thing)


def _ref_of(state: State, thing: Thing) -> int | None:
    return next((ref for ref, held in state.heap.items() if held is thing), None)


def _any(state: State, thing: Thing) -> Value:
    out: Value | None = None
    for item in (*thing.items.values(), thing.rest):
        out = item if out is None else joined(out, item, state, state)
    return out or CLEAN


def put(state: State, owner: Value, key: Value, value: Value) -> None:
    """Store under a key, where the owner is a container that is known."""
    thing = state.heap.get(owner.ref) if owner.ref is not None else None
    if thing is None or owner.ref is None:
        return
    place = (
        key.const if key.is_const and key.firm and isinstance(key.const, str | int | bytes | tuple) else None
    )
    if thing.kind == "list" and place not in thing.items:
        place = None
    if place is None and thing.kind == "list":  # a slice, or an index nobody knows: any value anywhere
        held = [state.total(v) for v in (*thing.items.values(), thing.rest, value)]
        state.heap[owner.ref] = Thing("bag", rest=mixed(held))
    elif place is None or thing.kind == "bag":
        rest = mixed([thing.rest, state.total(value), mixed([key])])
        keys = mixed([thing.keys, key]) if thing.keys is not None else None
        state.heap[owner.ref] = replace(thing, rest=rest, keys=keys)
    else:
        state.heap[owner.ref] = replace(thing, items={**thing.items, place: value})


def format_fields(text: str) -> list[str] | None:
    """The first names of a format string's fields, ``""`` for the next one; None where it is none."""
    try:
        return [
            field.partition(".")[0].partition("[")[0]
            for _, field, _, _ in string.Formatter().parse(text)
            if field is not None
        ]
    except ValueError:
        return None
