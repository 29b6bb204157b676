"""Keeps what is told of one file: its uses of secrets, and what its functions do with their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from gate.dataclass import dataclass
from gate.secret_uses.facts import Back, Hit, Outline, Use, Way
from gate.secret_uses.names import (
    authenticates,
    is_credential_entry,
    is_general,
    is_login,
    is_secret,
    names_secret,
    proves_key,
)
from gate.secret_uses.sources import FAINT, Value, Values, keyed, more, some
from gate.secret_uses.steps import ENVIRONMENT, SPREAD, Step
from gate.secret_uses.user_secrets import WIDE, only_wide, user_grade
from gate.secret_uses.whole_objects import BY_NAME, OWNS

PLACED: Final = "@placed"
"""What stands before a field that a secret was put into."""
_USES: Final = 200
_HITS: Final = 20
_LEAVING: Final = frozenset({"header", "answer", "sent", "file", "log", "label"})
_TAKING: Final = _LEAVING | {"key"}
_PIECES: Final = frozenset({"mixed", "spelled", "code"})


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
    elsewhere: bool = False


class Ledger:
    """``functions``: by name; two of one name count as one."""

    def __init__(self, elsewhere: Mapping[str, Outline]) -> None:
        self.functions: dict[str, Summary] = {}
        self.uses: set[Use] = set()
        self.keys: set[str] = set()
        for name, one in elsewhere.items():
            hits = {_Hit(h.parameter, frozenset(h.marks), h.way, h.sink, 0): None for h in one.hits}
            back = [Value(b.secret, b.kind, 0, b.origin, frozenset(b.marks)) for b in one.backs]
            self.functions[name] = Summary(one.parameters, some(back), hits, elsewhere=True)

    def defines(self, name: str, parameters: Sequence[str]) -> None:
        """The file has a function of this name: that of another file is not meant."""
        known = self.functions.get(name)
        if known is None or known.elsewhere:
            known = self.functions[name] = Summary()
        known.parameters = parameters

    def proves(self, values: Iterable[Value]) -> None:
        """These sign, encrypt or log in."""
        self.keys.update(f"{value.origin}.{value.secret}" for value in values if value.kind in FAINT)

    def placed(self, key: str, values: Iterable[Value]) -> None:
        """These stand under this name in a table: the field holds a secret since, whatever it is called."""
        if key.isidentifier() and not (is_general(key) or is_credential_entry(key) or is_secret(key)):
            plain = (v for v in values if not {"hashed", "sealed", "part", "item"} & v.marks)
            if any(v.kind == "one" or (v.kind in FAINT and names_secret(v.secret)) for v in plain):
                self.keys.add(f"{PLACED}.{key}")

    def kept(self, name: str, values: Iterable[Value]) -> None:
        """An attribute or an entry that holds the whole environment, whatever its name says."""
        if name and any(v.kind == "whole" and v.origin == "environment" for v in values):
            self.keys.add(f"{ENVIRONMENT}.{name}")

    def proved(self, path: tuple[str, ...], given: Sequence[tuple[str, Step, Values]]) -> None:
        """What a call of this name is given signs, encrypts or logs in."""
        if any(map(proves_key, path)):
            self.proves(value for _, _, values in given for value in values)
        for key, _, values in given:
            self.kept(key if key != SPREAD else "", values)
            if is_credential_entry(key):
                self.proves(values)
        first = given[0][1] if given else None
        named = first.name[0] if first is not None and first.kind == "const" and first.name else ""
        if len(given) == 2 and is_credential_entry(named):
            self.proves(given[1][2])

    def owns(self, inside: Sequence[str], path: tuple[str, ...]) -> None:
        """An object of the class that is being read keeps a secret under this name."""
        if inside and len(path) == 2 and path[0] in ("self", "this") and is_secret(path[1]):
            self.keys.add(f"{OWNS}:{inside[0]}:{path[1]}")

    def outlines(self, *, sinks: bool = False) -> Iterator[Outline]:
        """The functions of the file that take a parameter to pieces, or give something back in pieces.
        ``sinks``: also those that take one somewhere as it is.
        """
        for name, one in sorted(self.functions.items()):
            if one.elsewhere or ">" in name:
                continue
            hits = {h for h in one.hits if h.way == "mixed" or "mixed" in h.marks}
            if sinks:
                plain = {h for h in one.hits if h.way in _TAKING and "mixed" not in h.marks}
                hits |= {h._replace(marks=h.marks | {WIDE}) for h in plain}
            told = tuple(
                Hit(parameter=h.parameter, marks=tuple(sorted(h.marks)), way=h.way, sink=h.sink, line=h.line)
                for h in sorted(hits, key=repr)[:_HITS]
            )
            backs = [*_backs(one.returned)]
            if told or backs:
                yield Outline(name=name, parameters=tuple(one.parameters), hits=told, backs=tuple(backs))

    def tell(self, values: Iterable[Value], way: Way, sink: str, line: int, inside: str) -> None:
        """These go there; what a parameter holds is told where the function is called."""
        for value in values:
            if value.kind == "given":
                known = self.functions.get(value.secret)
                if known is not None and len(known.hits) < _USES:
                    known.hits[_Hit(value.origin, value.marks, way, sink, line)] = None
            elif len(self.uses) < _USES and _is_told(value, way, sink):
                self.uses.add(
                    Use(
                        secret=value.secret,
                        way=way,
                        sink=sink[:80],
                        function=inside,
                        line=line,
                        source=value.source or line,
                        marks=tuple(sorted(value.marks)),
                        whole=value.kind == "whole",
                        origin=value.origin,
                        faint=value.kind if value.kind in FAINT or value.kind == "user" else "",
                    )
                )

    def header(self, name: str, values: Iterable[Value], line: int, inside: str) -> None:
        """These go into a header of this name."""
        if is_credential_entry(name):
            self.proves(values)
        if name and not authenticates(name):
            self.tell(values, "header", name, line, inside)
        elif name and not is_login(name):
            self.tell(only_wide(values), "header", name, line, inside)

    def gives_back(self, name: str, values: Iterable[Value]) -> None:
        """A function of this name returns these."""
        self.functions[name].returned = some([*self.functions[name].returned, *values])

    def called(
        self, name: str, given: Iterable[tuple[str, Values]], line: int, inside: str
    ) -> Iterator[Value]:
        """What a function of the file gives back for what it is given by place or keyword."""
        own = self.functions[name]
        bound: dict[str, Values] = {}
        for number, (key, values) in enumerate(given):
            if key in own.parameters:
                bound[key] = values
            elif not key and number < len(own.parameters) and not own.parameters[number].startswith("*"):
                bound[own.parameters[number]] = values
            elif rest := next((one for one in own.parameters if _takes(one, key)), ""):
                bound[rest] = some([*bound.get(rest, ()), *keyed(key, values)])
        for hit in [*own.hits]:
            for value in bound.get(hit.parameter, ()):
                self.tell([more(value, hit.marks)], hit.way, hit.sink, hit.line or line, inside)
        for value in own.returned:
            if value.kind == "given" and value.secret == name:
                yield from (more(one, value.marks) for one in bound.get(value.origin, ()))
            else:
                yield value


def _takes(parameter: str, key: str) -> bool:
    """Does a parameter take what no other one is for? Spread arguments may be both."""
    stars = len(parameter) - len(parameter.lstrip("*"))
    return stars > 0 if key == SPREAD else stars == (2 if key else 1)


def _is_back(value: Value) -> bool:
    return value.secret == BY_NAME or not value.marks.isdisjoint(_PIECES)


def _backs(values: Values) -> Iterator[Back]:
    """What a function gives back in pieces. Only what was computed with is followed for all secrets."""
    found = [v for v in values if v.kind in ("given", "user") and _is_back(v)]
    for value in sorted(found, key=repr)[:_HITS]:
        marks = value.marks if "mixed" in value.marks else value.marks | {WIDE}
        yield Back(secret=value.secret, kind=value.kind, origin=value.origin, marks=tuple(sorted(marks)))


def _is_in_pieces(value: Value, way: Way) -> bool:
    """Is a value whose name says nothing taken to pieces, as characters or bytes, and computed with?"""
    marks = value.marks
    if "coded" in marks and way in _LEAVING:  # all of it, in another form
        return True
    if way == "returned":
        return "spread" in marks
    if way != "mixed" and "mixed" not in marks:
        return False
    if "cut" in marks:
        return False
    taken = not marks.isdisjoint(("item", "part", "wholly"))
    if value.kind == "attr":  # told only where it is known to be a key
        return taken
    return taken and not marks.isdisjoint(("code", "bytes", "xor", "coded", "char"))


def _is_told(value: Value, way: Way, sink: str) -> bool:
    """What no name calls a secret is told in pieces, an error as a whole, a user's by what becomes of it."""
    if value.kind == "user":
        return bool(user_grade(value.secret, way, sink, value.marks))
    if WIDE in value.marks:
        return False
    if value.kind == "whole" and value.origin == "error":
        return "wholly" in value.marks
    return value.kind not in FAINT or _is_in_pieces(value, way)
