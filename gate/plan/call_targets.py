"""Which functions and classes of a changed module to call."""

from __future__ import annotations

from typing import Final

from gate.model.change import ChangedFile
from gate.plan.python_source import Facts

MOST: Final = 120
"""Names called in one module."""
_SHORT: Final = 3
"""Names of so many letters stand for too much."""


def to_call(
    file: ChangedFile, facts: Facts, before: Facts | None = None, *, most: int = MOST
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names to call and names left out, in the order of calling: riskiest first, then by line.

    Called is what has a changed line or lost one, and (PS-7) what uses a top-level name whose binding
    changed: an old, harmless-looking call may do something new behind a changed constant or import.
    """
    touched = [d for d in facts.definitions if file.touches(d.first, d.last)]
    changed = {d.name.partition(".")[0] for d in touched}
    changed |= {name for name, first, last in facts.names if file.touches(first, last)}
    methods = {d.name.rpartition(".")[2] for d in touched}
    chosen = {d.name: d for d in touched}
    for definition in facts.definitions:
        if definition.uses & (changed | methods):
            chosen.setdefault(definition.name, definition)
    present = {d.name: d for d in facts.definitions}
    for definition in before.definitions if before else ():
        # Gone from this file, perhaps moved to another: what it did at base must be known. And what only
        # lost a line (a decorator, a check) has no changed line at head.
        if file.touched(definition.first, definition.last):
            chosen.setdefault(definition.name, present.get(definition.name, definition))
    wanted = sorted(chosen.values(), key=lambda d: (-d.risk, d.first, d.name))
    names = tuple(dict.fromkeys(d.name for d in wanted))
    return names[:most], names[most:]


def changed_names(file: ChangedFile, facts: Facts | None) -> frozenset[str]:
    """The plain names of functions, classes and methods of which a line changed, and of their classes."""
    touched = [d.name for d in facts.definitions if file.touches(d.first, d.last)] if facts else []
    words = {word for name in touched for word in name.split(".")}
    return frozenset(word for word in words if len(word) > _SHORT and not word.startswith("__"))
