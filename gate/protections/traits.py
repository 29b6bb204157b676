"""Protections that are neither a guard nor a condition, joined to the units of a file. Runs in the child.

A key of a cache, the order of an object, an entry of a list: what the readers of each language find beside
decorators and refusals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gate.protections.facts import Family, Form, Guard, Unit, Weakness

Fact = Guard | Weakness
Traits = Mapping[int, list[Fact]]
"""By the line of a function; 0 for what stands in none."""
OWNED: Final = "-what is the user's"
"""The atom of a query for what belongs to who asks."""
LAST: Final = "-set behind what is sent: "
KNOWN: Final = "-set to what is known: "
GUARDED: Final = "-guards all below "
MAKER: Final = "-made safely: "
EVERYWHERE: Final = "-escapes in every template"
EACH: Final = "-saves each object"
PAST: Final = "written past what listens to each save: "
"""How the key of what no signal hears of begins."""
BY_ADDRESS: Final = "answers are kept by their address alone"
QUIET: Final = (EACH, LAST, KNOWN, GUARDED, EVERYWHERE, MAKER)
"""Atoms whose loss says nothing by itself: what opens names them as what it needs."""
BY_ENDING: Final = "escapes only in "
"""How the key of what escapes by a template's ending begins."""
HIDDEN: Final = "-hidden: "
KEPT: Final = "-kept by "
SIGNED: Final = "-signs what is sent"
PRIVATE: Final = "-no shared cache keeps it"
"""The atoms of a signature over a body, and of an answer that is one person's."""
ENDED: Final = "-ends what was open"
SESSIONS: Final = ("session", "current_user", "request.user", "get_session", "getSession", "currentUser")
"""Words of base that say it took who asks from where nobody can write."""
_CUT: Final = 160


def with_traits(units: Iterable[Unit], traits: Traits) -> Iterator[Unit]:
    """The same units with what belongs to them."""
    left = dict(traits)
    for unit in units:
        found = left.pop(unit.line, []) if unit.kind == "function" else []
        if unit.kind == "module":  # the last unit: what no function took
            found = [fact for line in sorted(left) for fact in left[line]]
        yield (
            replace(
                unit,
                guards=(*unit.guards, *(f for f in found if isinstance(f, Guard))),
                weaknesses=(*unit.weaknesses, *(f for f in found if isinstance(f, Weakness))),
            )
            if found
            else unit
        )


def trait(family: Family, atom: str, text: str, line: int, *, of: str = "", form: Form = "entry") -> Guard:
    """A guard that is an entry; ``of``: the word that must still be there for its loss to count."""
    return Guard(family=family, form=form, must=(atom,), text=" ".join(text.split())[:_CUT], line=line, of=of)


def lapse(
    family: Family,
    key: str,
    text: str,
    line: int,
    *,
    needs: tuple[str, ...] = (),
    modest: bool = True,
    anew: bool = False,
) -> Weakness:
    """Something that opens, medium unless told otherwise."""
    text = " ".join(text.split())[:_CUT]
    return Weakness(key=key, family=family, text=text, line=line, needs=needs, modest=modest, anew=anew)
