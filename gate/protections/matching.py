"""Which function of head is which of base: by place and name, then by name, then by likeness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from gate.dataclass import dataclass
from gate.protections.facts import FileFacts, Unit

_SAME_NAME: Final = 0.3
_ANY_NAME: Final = 0.6
_COMPARED: Final = 200
"""Functions without a partner that are compared with each other; beyond, they count as new and deleted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """One unit and the path of its file on that side."""

    path: str
    unit: Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """The files of one side by path, with what is asked for by name."""

    files: Mapping[str, FileFacts]
    functions: Mapping[str, tuple[Placed, ...]]
    classes: Mapping[str, tuple[Placed, ...]]
    wide: Mapping[str, tuple[Unit, ...]]
    """By path, the units that protect more than themselves."""


def make_side(files: Mapping[str, FileFacts]) -> Side:
    """Index the files of one side."""
    functions: dict[str, list[Placed]] = defaultdict(list)
    classes: dict[str, list[Placed]] = defaultdict(list)
    for path, facts in files.items():
        for unit in facts.units:
            where = functions if unit.kind == "function" else classes if unit.kind == "class" else None
            if where is not None:
                where[unit.name.rpartition(".")[2]].append(Placed(path=path, unit=unit))
    return Side(
        files=files,
        functions={name: tuple(found) for name, found in functions.items()},
        classes={name: tuple(found) for name, found in classes.items()},
        wide={
            path: tuple(u for u in facts.units if any(g.form == "wide" for g in u.guards))
            for path, facts in files.items()
        },
    )


def pairs(base: Side, head: Side, now_at: Mapping[str, str]) -> Iterator[tuple[Placed, Placed | None]]:
    """Every unit of base with its partner at head, None where deleted. ``now_at``: base's path to head's."""
    taken: set[tuple[str, str, str]] = set()
    alone: list[Placed] = []
    for path, facts in base.files.items():
        here = {(u.kind, u.name): u for u in _units(head, now_at.get(path, path))}
        for unit in facts.units:
            same = here.get((unit.kind, unit.name))
            if same is None:
                alone.append(Placed(path=path, unit=unit))
            else:
                at = now_at.get(path, path)
                taken.add((at, same.kind, same.name))
                yield Placed(path=path, unit=unit), Placed(path=at, unit=same)
    free = [
        Placed(path=path, unit=unit)
        for path, facts in head.files.items()
        for unit in facts.units
        if (path, unit.kind, unit.name) not in taken
    ]
    for old in alone:
        new = _partner(old, free[:_COMPARED]) if len(alone) <= _COMPARED else None
        if new is not None:
            free.remove(new)
        yield old, new


def _units(side: Side, path: str) -> tuple[Unit, ...]:
    facts = side.files.get(path)
    return facts.units if facts is not None else ()


def _partner(old: Placed, free: list[Placed]) -> Placed | None:
    """The function of head that has taken its place, most alike first."""
    best, likeness = None, 0.0
    for new in free:
        if new.unit.kind != old.unit.kind:
            continue
        same = new.unit.name.rpartition(".")[2] == old.unit.name.rpartition(".")[2]
        if old.unit.kind != "function":
            found = 1.0 if same and old.unit.kind == "class" else 0.0
            needed = 0.5
        else:
            found = alike(old.unit, new.unit) + (0.2 if same else 0.0)
            needed = _SAME_NAME + 0.2 if same else _ANY_NAME
        if found >= needed and found > likeness:
            best, likeness = new, found
    return best


def alike(one: Unit, other: Unit) -> float:
    """How much of two bodies is the same, 0 to 1."""
    a, b = set(one.tokens), set(other.tokens)
    return len(a & b) / len(a | b) if a and b else 0.0
