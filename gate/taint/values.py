"""What a value may hold: its origins with what each is safe for, and what is known of its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.taint.facts import Taint
from gate.taint.program import Node

ALL: Final = "all"
"""Safe for everything: a number, one of a list."""
BUILT: Final = "+built"
HTML: Final = "+html"
SQL: Final = "+sql"
"""Marks of evidence: put together with constant text, with markup, with words of a query."""
VIA: Final = "via"
"""Went through a function that nobody knows."""
DECODED: Final = "%"
"""Ends the name of what was decoded after a check."""
DECODED_TAG: Final = "+decoded"
TAIL: Final = "tail"
"""Stands behind a beginning that it cannot change: a host, a folder of an address."""
_MOST: Final = 24

Atom = tuple[str, int, int, str]
"""Kind, number, index and text as in ``Taint``; of a source the number is 0, so that it is one wherever it is
read."""
Tags = frozenset[str]


@dataclass(slots=True)
class Value:
    """``path``: the dotted name it stands for; ``kind``: its type; ``const``: its text where that is known;
    ``fields``: what its entries hold where all are known; ``function``: what it runs when it is called.
    """

    atoms: dict[Atom, Tags] = field(default_factory=dict)
    path: str = ""
    kind: str = ""
    const: str | None = None
    fields: dict[str, Value] | None = None
    function: Node | None = None
    closed: bool = False
    """Does the text end with what separates the parts of a path or of an address?"""

    def tagged(self, *tags: str) -> Value:
        """The same with these tags on every origin."""
        more = frozenset(tags)
        return Value({atom: own | more for atom, own in self.atoms.items()}, kind="")

    @property
    def decided(self) -> bool:
        """May somebody else decide it, as far as this file says?"""
        return any(kind != "r" or index == 0 for kind, _, index, _ in self.atoms)

    def whole(self) -> dict[Atom, Tags]:
        """Its origins with those of its entries."""
        if not self.fields:
            return self.atoms
        return joined([Value(self.atoms), *(Value(one.whole()) for one in self.fields.values())]).atoms


NOTHING: Final = Value()


def joined(values: Iterable[Value]) -> Value:
    """One of several: safe for what all are safe for, with the evidence of any."""
    many = [value for value in values if value is not NOTHING]
    if len(many) == 1:
        return many[0]
    atoms: dict[Atom, Tags] = {}
    for value in many:
        for atom, tags in value.atoms.items():
            had = atoms.get(atom)
            atoms[atom] = tags if had is None else (had & tags) | _evidence(had | tags)
        if len(atoms) >= _MOST:
            atoms = dict(list(atoms.items())[:_MOST])
    paths, kinds = {v.path for v in many}, {v.kind for v in many}
    consts = {v.const for v in many}
    fields = None
    if many and all(v.fields is not None for v in many):
        fields = {}
        for key in {key for v in many for key in v.fields or ()}:
            fields[key] = joined([(v.fields or {}).get(key, NOTHING) for v in many])
    return Value(
        atoms,
        path=paths.pop() if len(paths) == 1 else "",
        kind=kinds.pop() if len(kinds) == 1 else next((k for k in kinds if k), ""),
        const=consts.pop() if len(consts) == 1 else None,
        fields=fields,
        function=next((v.function for v in many if v.function is not None), None),
        closed=any(v.closed for v in many),
    )


def _evidence(tags: Tags) -> Tags:
    return frozenset(tag for tag in tags if tag.startswith("+"))


def taints(atoms: Mapping[Atom, Tags], lines: Mapping[str, int]) -> list[Taint]:
    """The origins as the child says them."""
    kinds = {"s": "source", "p": "parameter", "r": "result"}
    return [
        Taint(kinds[kind], lines.get(text, 0) if kind == "s" else number, index, text, tuple(sorted(tags)))  # type: ignore[arg-type]
        for (kind, number, index, text), tags in atoms.items()
    ]
