"""Keeps what is told of one file: its uses of secrets, and what its functions do with their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gate.secret_uses.facts import Use, Way
from gate.secret_uses.names import authenticates
from gate.secret_uses.sources import Value, Values, more, some

_USES: Final = 200


class _Hit(NamedTuple):
    """A use of a parameter, told again for every value that it is given."""

    parameter: str
    marks: frozenset[str]
    way: Way
    sink: str
    line: int


@dataclass
class Summary:
    """One function: what it gives back, and where it takes its parameters."""

    parameters: Sequence[str] = ()
    returned: Values = frozenset()
    hits: dict[_Hit, None] = field(default_factory=dict)


class Ledger:
    """``functions``: by name; two of one name count as one."""

    def __init__(self) -> None:
        self.functions: dict[str, Summary] = {}
        self.uses: set[Use] = set()

    def tell(self, values: Iterable[Value], way: Way, sink: str, line: int, inside: str) -> None:
        """These go there; what a parameter holds is told where the function is called."""
        for value in values:
            if value.kind == "given":
                known = self.functions.get(value.secret)
                if known is not None and len(known.hits) < _USES:
                    known.hits[_Hit(value.origin, value.marks, way, sink, line)] = None
            elif len(self.uses) < _USES:
                self.uses.add(
                    Use(
                        secret=value.secret,
                        way=way,
                        sink=sink[:80],
                        function=inside,
                        line=line,
                        source=value.source,
                        marks=tuple(sorted(value.marks)),
                        whole=value.kind == "whole",
                        origin=value.origin,
                    )
                )

    def header(self, name: str, values: Iterable[Value], line: int, inside: str) -> None:
        """These go into a header of this name."""
        if name and not authenticates(name):
            self.tell(values, "header", name, line, inside)

    def gives_back(self, name: str, values: Iterable[Value]) -> None:
        """A function of this name returns these."""
        self.functions[name].returned = some([*self.functions[name].returned, *values])

    def called(self, name: str, given: Iterable[tuple[str, Values]], inside: str) -> Iterator[Value]:
        """What a function of the file gives back for what it is given by place or keyword."""
        own = self.functions[name]
        bound: dict[str, Values] = {}
        for number, (key, values) in enumerate(given):
            if key in own.parameters:
                bound[key] = values
            elif not key and number < len(own.parameters):
                bound[own.parameters[number]] = values
        for hit in [*own.hits]:
            for value in bound.get(hit.parameter, ()):
                self.tell([more(value, hit.marks)], hit.way, hit.sink, hit.line, inside)
        for value in own.returned:
            if value.kind == "given" and value.secret == name:
                yield from (more(one, value.marks) for one in bound.get(value.origin, ()))
            else:
                yield value
