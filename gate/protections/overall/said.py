"""Calls and comparisons of a function in one form for all languages: plain values, so that rules are pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gate.dataclass import dataclass
from gate.languages.naming import snake


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """``left operator right`` as it is written; ``is`` with nothing on its right for a bare condition."""

    left: str
    operator: str
    right: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One call. ``name``: its last name in snake case; ``owner``: what stands before it; ``within``: what is
    compared inside of it, where it makes one value of many.
    """

    name: str
    line: int
    text: str
    owner: str = ""
    given: tuple[str, ...] = ()
    keywords: Mapping[str, str] = field(default_factory=dict)
    within: tuple[Compared, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """One function, or what stands in none (``name`` is empty then)."""

    name: str
    calls: tuple[Said, ...]
    names: frozenset[str] = frozenset()
    """Last names of all its calls; ``calls`` has only those that a rule asks about."""
    sets: tuple[tuple[Compared, str, int], ...] = ()
    """Comparisons of order (``wanted <= granted``) with their text and line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """One file. ``words``: its names, short texts and imports, each with its line."""

    functions: tuple[Spoken, ...]
    words: Mapping[str, int]
    text: str


ADDING = frozenset({"sum", "reduce", "sum_of", "sum_by", "fold", "inject", "aggregate", "array_sum", "sumof"})
"""Calls that make one value of many."""


def plain(name: str) -> str:
    """The last name of what is called, in snake case, without Ruby's and Rust's marks."""
    for mark in ("::", "->", "?.", "&."):
        name = name.replace(mark, ".")
    return snake(name.rpartition(".")[2].strip("@$!?: "))
