"""What one file says of guards and of what feeds them."""

from __future__ import annotations

import msgspec


class Guard(msgspec.Struct, frozen=True):
    """A condition that refuses, with all names that it reads through the variables of its function."""

    names: list[str]
    text: str
    line: int


class Called(msgspec.Struct, frozen=True):
    """A call, with the names that each argument is made of."""

    name: str
    given: list[list[str]]
    line: int


class Function(msgspec.Struct, frozen=True):
    """``returns``: the names that its answer is made of. ``body``: its text, for comparing versions."""

    owner: str
    name: str
    line: int
    gives: str
    parameters: list[str]
    returns: list[str]
    guards: list[Guard]
    calls: list[Called]
    body: str
    marks: str
    defaults: dict[str, str]


class Declared(msgspec.Struct, frozen=True):
    """A field, a parameter or a variable with its type."""

    owner: str
    name: str
    type: str
    line: int


class Facts(msgspec.Struct, frozen=True):
    """``embeds``: types that a type takes the members of, or extends; ``structural``: compared by fields."""

    functions: list[Function]
    declared: list[Declared]
    embeds: list[tuple[str, str]]
    structural: list[str]
    imports: list[tuple[str, str, int]]
    """Names with the module that they come from."""
    wrapped: list[tuple[str, str, int, str]]
    """Verifiers that are handed to a function: its name, theirs, the line, the whole call."""
