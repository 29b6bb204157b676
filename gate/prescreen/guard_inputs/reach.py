"""From a changed value to the guards that read it: through answers, variables and arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gate.languages.naming import snake
from gate.prescreen.guard_inputs.facts import Facts, Function, Guard
from gate.prescreen.guard_inputs.vocabulary import EQUAL, ORDERED
from gate.prescreen.guard_inputs.weaker import Weaker

_STEPS: Final = 3
_COMMON: Final = frozenset(
    {"get", "set", "value", "name", "id", "key", "data", "result", "map", "call", "run", "index", "length",
     "size", "count", "len", "append", "push", "add", "new", "init", "__init__", "constructor", "int",
     "String", "toString", "format", "log", "print", "of", "from", "open", "read", "write", "test", "main",
     "string", "Error"}
)  # fmt: skip
"""Names that say too little to follow them to other files."""


class Reached(NamedTuple):
    """A guard with the path of its file."""

    path: str
    guard: Guard


def first_names(change: Weaker, tree: Mapping[str, Facts]) -> set[str]:
    """The names under which guards read what changed: for a type, everything that is of it."""
    if change.kind != "equality":
        return {change.name}
    word = re.compile(rf"\b{re.escape(change.name)}\b")
    found = {one.name for facts in tree.values() for one in facts.declared if word.search(one.type)}
    found |= {one.name for facts in tree.values() for one in facts.functions if word.search(one.gives)}
    found.add(snake(change.name))
    return found - {"other", "that", "self", "o", "obj", "this", ""}


def reached(change: Weaker, tree: Mapping[str, Facts], own: str) -> Iterator[Reached]:
    """Guards that read what changed. ``own``: the changed file, whose common names are followed, too."""
    names = first_names(change, tree)
    places: set[tuple[str, str]] = set()
    near = {own}
    if change.kind == "equality":  # a file that says the type of a name means it, however common that is
        word = re.compile(rf"\b{re.escape(change.name)}\b")
        near |= {path for path, facts in tree.items() if any(word.search(one.type) for one in facts.declared)}
    for _ in range(_STEPS):
        seen = len(names) + len(places)
        for path, facts in tree.items():
            for function in facts.functions:
                here = _names_here(function, names, places, near=path in near)
                if here & set(function.returns) and change.kind != "equality":
                    names |= {function.name} - _COMMON - {""}
                places |= _handed(function, here)
        if seen == len(names) + len(places):
            break
    for path, facts in tree.items():
        for function in facts.functions:
            here = _names_here(function, names, places, near=path in near)
            for guard in function.guards if here else ():
                if here & set(guard.names) and _fits(change.needs, guard.text):
                    yield Reached(path, guard)


def _handed(function: Function, here: set[str]) -> set[tuple[str, str]]:
    """Parameters of others that a function gives one of these names to: their function and their place."""
    return {
        (call.name, str(at))
        for call in function.calls if call.name not in _COMMON
        for at, given in enumerate(call.given) if not here.isdisjoint(given)
    }  # fmt: skip


def _names_here(function: Function, names: set[str], places: set[tuple[str, str]], *, near: bool) -> set[str]:
    given = {name for at, name in enumerate(function.parameters) if (function.name, str(at)) in places}
    return (names if near else names - _COMMON) | given


def _fits(needs: str, text: str) -> bool:
    if needs == "order":
        return bool(ORDERED.search(text))
    return needs == "any" or bool(EQUAL.search(text))
