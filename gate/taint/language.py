"""How a language is described to the flow: sources, sinks and what makes values safe, as data."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property
from typing import TypedDict, Unpack

from gate.dataclass import dataclass
from gate.regex import regex

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value comes from. ``names``: members or calls; ``owner``: matched with what they belong to, as
    ``path|type``. ``kind``: request, model, input, file.
    """

    names: frozenset[str]
    owner: Pattern
    kind: str = "request"


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a value must not get to. ``args``: places (-1: the receiver) or keywords; ``needs``: marks
    of which
    it must have one; ``unless``: a text of the file that makes it harmless.
    """

    rule: str
    names: frozenset[str]
    owner: Pattern
    args: tuple[int | str, ...] = (0,)
    needs: frozenset[str] = frozenset()
    unless: Pattern | None = None
    given: Pattern | None = None
    """What a constant argument has to be: the shell that a program is."""
    plain: bool = False
    """Only what is given as it is: a beginning that is constant bounds it."""
    first: Pattern | None = None
    """What the first argument has to be, as ``path|type``: where it is written to."""


@dataclass(frozen=True, slots=True)
class Cleaner:
    """Calls that make a value safe for some rules, or for all."""

    names: frozenset[str]
    owner: Pattern
    safe: frozenset[str]


@dataclass(frozen=True)
class Language:
    """One language. ``suffixes``: of its files; ``grammar``: as tree_sitter_parse takes it."""

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    reads: tuple[Source, ...]
    """Members that are sources."""
    calls: tuple[Source, ...]
    """Calls that give one."""
    fills: tuple[Source, ...]
    """Calls that write one into their arguments."""
    names: dict[str, str]
    """Bare names that are sources, with their kind."""
    sinks: tuple[Sink, ...]
    cleaners: tuple[Cleaner, ...]
    assigned: dict[str, str] = field(default_factory=dict)
    """Members that are sinks when they are assigned, with the rule."""
    parameter_marks: Pattern | None = None
    """Annotations of parameters that hold a request's values."""
    entry_marks: Pattern | None = None
    """Annotations of functions all of whose parameters do."""
    numbers: frozenset[str] = frozenset()
    """Types in which no harmful text has room."""
    given: Pattern = regex(r"(?!)")
    """Types of an entry's parameters that the framework gives, not the request."""
    roots_are_parameters: bool = False
    """A request has to be a parameter, not any variable of that name."""
    strict_methods: bool = False
    matters: Pattern = regex(r"")
    """Text without which no file of the language has a sink."""

    @cached_property
    def sinks_by_name(self) -> dict[str, list[Sink]]:
        """The sinks by the last name of a call."""
        found: dict[str, list[Sink]] = {}
        for sink in self.sinks:
            for name in sink.names:
                found.setdefault(name, []).append(sink)
        return found

    @cached_property
    def cleaners_by_name(self) -> dict[str, list[Cleaner]]:
        """The cleaners by the last name of a call."""
        found: dict[str, list[Cleaner]] = {}
        for cleaner in self.cleaners:
            for name in cleaner.names:
                found.setdefault(name, []).append(cleaner)
        return found

    @cached_property
    def calls_by_name(self) -> dict[str, list[Source]]:
        """The sources that are calls by their last name."""
        return _by_name(self.calls)

    @cached_property
    def reads_by_name(self) -> dict[str, list[Source]]:
        """The sources that are members by their name."""
        return _by_name(self.reads)

    @cached_property
    def fills_by_name(self) -> dict[str, list[Source]]:
        """The calls that fill their arguments by their last name."""
        return _by_name(self.fills)


def _by_name(sources: tuple[Source, ...]) -> dict[str, list[Source]]:
    found: dict[str, list[Source]] = {}
    for source in sources:
        for name in source.names:
            found.setdefault(name, []).append(source)
    return found


ANY = regex(r"")


def pattern(owner: str) -> Pattern:
    """An owner's pattern: empty any, ``-`` none (a bare function)."""
    return regex(r"\A\|?\Z" if owner == "-" else owner, re.IGNORECASE)


def source(names: str, owner: str = "", kind: str = "request") -> Source:
    """A source; ``names`` with blanks between them."""
    return Source(frozenset(names.split()), pattern(owner), kind)


class More(TypedDict, total=False):
    """What else a sink may say; ``needs``: marks with blanks between them, the rest as in ``Sink``."""

    needs: str
    unless: str
    given: str
    first: str
    plain: bool


def sink(
    rule: str, names: str, owner: str = "", args: tuple[int | str, ...] = (0,), **more: Unpack[More]
) -> Sink:
    """A sink; ``names`` with blanks between them."""
    unless, given, first = more.get("unless"), more.get("given"), more.get("first")
    return Sink(
        rule,
        frozenset(names.split()),
        pattern(owner),
        args,
        frozenset(f"+{one}" for one in more.get("needs", "").split()),
        regex(unless) if unless else None,
        regex(given) if given else None,
        more.get("plain", False),
        pattern(first) if first else None,
    )


def clean(safe: str, names: str, owner: str = "") -> Cleaner:
    """Calls after which a value is safe for these rules (``all``: for every one)."""
    return Cleaner(frozenset(names.split()), pattern(owner), frozenset(safe.split()))
