"""What a reader of any language gathers about refusals, and how it names them. Runs in the limited child."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Final

from gate.dataclass import dataclass
from gate.protections.conditions import Term, family_of_atom
from gate.protections.facts import Family, Guard, Weakness

CODES: Final[dict[str, Family]] = {"401": "authentication", "403": "authorisation", "429": "rate limit"}
"""Statuses that refuse, as they are written."""


@dataclass(frozen=True, slots=True)
class Place:
    """``must`` are conditions of the answer (check functions), ``context`` what surrounds a statement."""

    must: Term = frozenset()
    context: Term = frozenset()
    guarded: bool = False


@dataclass
class Gathered:
    """What one function says: its guards and weaknesses, atoms of its conditions, digests of statements."""

    guards: list[Guard] = field(default_factory=list, init=False)
    weaknesses: list[Weakness] = field(default_factory=list, init=False)
    tested: set[str] = field(default_factory=set, init=False)
    plain: list[int] = field(default_factory=list, init=False)
    acts: list[int] = field(default_factory=list, init=False)

    def _add(self, found: Guard | Weakness, place: Place) -> None:
        if isinstance(found, Weakness):
            self.weaknesses.append(found)
            return
        context = tuple(sorted(place.context | place.must))
        self.guards.append(replace(found, context=context, behind=len(self.acts)))


def one_way(ways: list[Term]) -> Term:
    """One way as its atoms; of several, one atom that names them all."""
    if len(ways) == 1:
        return ways[0]
    return frozenset({"+" + " or ".join(sorted(" and ".join(sorted(term)) for term in ways))})


def family_of_term(term: Term) -> Family | None:
    """The family that a condition speaks of."""
    return next((family for atom in sorted(term) if (family := family_of_atom(atom))), None)
