"""What protects a function besides its own lines: its class, its module, what it calls."""

from __future__ import annotations

from typing import Final

from gate.protections.facts import Guard, Unit
from gate.protections.matching import Placed, Side

_STEPS: Final = 3
_NAMESAKES: Final = 3
_PASSED_ON: Final = ("refusal", "call", "handler", "parameter", "cleaner", "argument", "entry")
_CALLEES: Final = 40
"""Functions below one that are looked into; a change that hides its guard deeper is asked about it."""
_FIRST: Final = frozenset(
    {"dispatch", "prepare", "initial", "before_request", "setup", "check_permissions", "__init__"}
)
"""Methods that run before every answer of a class."""


def effective_guards(side: Side, placed: Placed) -> tuple[Guard, ...]:
    """The guards of the unit, then those of everything around and below it that the change shows."""
    found = [*placed.unit.guards, *_around(side, placed)]
    seen = {(placed.path, placed.unit.name)}
    todo = [(placed, 0)]
    while todo and len(seen) <= _CALLEES:
        at, step = todo.pop(0)
        if step >= _STEPS:
            continue
        for name in at.unit.calls:
            for callee in _meant(side, name, at.path):
                if (callee.path, callee.unit.name) in seen:
                    continue
                seen.add((callee.path, callee.unit.name))
                found += [g for g in callee.unit.guards if g.form in _PASSED_ON]
                todo.append((callee, step + 1))
    return tuple(found)


def _meant(side: Side, name: str, path: str) -> tuple[Placed, ...]:
    known = side.functions.get(name, ())
    here = tuple(one for one in known if one.path == path)
    return here or (known if len(known) <= _NAMESAKES else ())


def _around(side: Side, placed: Placed) -> list[Guard]:
    found: list[Guard] = []
    for unit in side.wide.get(placed.path, ()):
        if unit is not placed.unit:
            found += [g for g in unit.guards if g.form == "wide"]
    owner = placed.unit.name.rpartition(".")[0].rpartition(".")[2]
    names, seen = [owner] if owner else list(placed.unit.bases), set[str]()
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        for one in side.classes.get(name, ())[:_NAMESAKES]:
            found += one.unit.guards
            names += one.unit.bases
            found += _first_methods(side, one)
    return found


def _first_methods(side: Side, owner: Placed) -> list[Guard]:
    names = {f"{owner.unit.name}.{method}" for method in _FIRST}
    units: tuple[Unit, ...] = side.files[owner.path].units
    return [g for unit in units if unit.name in names for g in unit.guards]
